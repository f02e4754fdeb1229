import type { PeerCertificate } from "node:tls";

/** Who is at the other end of a server's connection. */
export interface Peer {
  readonly kind: "unix" | "tcp";
  /** IP address and port; undefined on a unix socket. */
  readonly address: string | undefined;
  /** True on a connection by TLS. */
  readonly encrypted: boolean;
  /** The certificate that the peer proved to own, verified against the server's `ca`; undefined without one. */
  readonly certificate: PeerCertificate | undefined;
}
