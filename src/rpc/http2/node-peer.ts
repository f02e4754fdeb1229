import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";
import type { Peer } from "../peer.ts";

/** The peer of a socket. */
export class NodePeer implements Peer {
  readonly kind: "unix" | "tcp";
  readonly address: string | undefined;
  readonly encrypted: boolean;
  readonly certificate: PeerCertificate | undefined;

  constructor(socket: Socket | TLSSocket) {
    const { remoteAddress, remotePort } = socket;
    this.kind = remoteAddress === undefined ? "unix" : "tcp";
    this.address = remoteAddress === undefined ? undefined : formatHostPort(remoteAddress, remotePort);
    this.encrypted = socket instanceof TLSSocket;
    this.certificate = socket instanceof TLSSocket && socket.authorized ? certificateOf(socket) : undefined;
  }
}

function formatHostPort(host: string, port: number | undefined): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function certificateOf(socket: TLSSocket): PeerCertificate | undefined {
  const certificate = socket.getPeerCertificate();
  return Object.keys(certificate).length === 0 ? undefined : certificate;
}
