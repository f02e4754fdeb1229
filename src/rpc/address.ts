import { BlockList, isIP } from "node:net";

/** Where a server listens, or a client connects to. */
export type Address =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/** Longest path of a unix socket, by the size of its field in the system's structure. */
export const MAX_PATH_BYTES: number = process.platform === "linux" ? 107 : 103;

/**
 * Reads `unix:PATH`, `unix:///PATH`, `tcp://HOST:PORT`, `tcp:HOST:PORT` or `HOST:PORT`. A host that is an IPv6 address
 * stands in brackets.
 *
 * @throws {TypeError} When the text is none of these.
 */
export function parseAddress(text: string): Address {
  if (typeof text !== "string") throw malformed(text);
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (path === "" || path.startsWith("//") || path.includes("\0")) throw malformed(text);
    const bytes = Buffer.byteLength(path);
    if (bytes > MAX_PATH_BYTES) {
      throw new TypeError(
        `the path of a unix socket may have at most ${MAX_PATH_BYTES} bytes, this one has ${bytes}: ${path}`,
      );
    }
    return { kind: "unix", path };
  }
  const rest = text.replace(/^tcp:(?:\/\/)?/, "");
  const colon = rest.lastIndexOf(":");
  const port = rest.slice(colon + 1);
  const host = rest.slice(0, Math.max(0, colon));
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  const plausible = bare === host ? /^[0-9A-Za-z._-]+$/.test(host) : isIP(bare) === 6;
  if (!plausible || !/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw malformed(text);
  return { kind: "tcp", host: bare, port: Number(port) };
}

/** Text that {@link parseAddress} reads back. */
export function formatAddress(address: Address): string {
  if (address.kind === "unix") return `unix:${address.path}`;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `tcp://${host}:${address.port}`;
}

/** True for an IP address that only this machine can reach. */
export function isLoopback(ip: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  const version = isIP(ip);
  return version !== 0 && loopback.check(ip, version === 4 ? "ipv4" : "ipv6");
}

function malformed(text: unknown): TypeError {
  return new TypeError(
    `${typeof text === "string" ? JSON.stringify(text) : typeof text} is no address; it may be unix:PATH, tcp://HOST:PORT or HOST:PORT, with [::1] for IPv6`,
  );
}
