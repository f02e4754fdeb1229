import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from "node:tls";

/** More of a chain is not looked at. */
const MAX_CHAIN = 10;
/** A certificate may list thousands of names. */
const MAX_NAMES = 10;

/** Codes of certificates that no authority that is known vouches for. */
const UNKNOWN_ISSUER: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Puts in words what went wrong with a client's TLS handshake: which certificate it is about, and what of it. */
export class TlsHandshake {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #server: DetailedPeerCertificate | undefined;
  /** The client's certificate, when the handshake was done: a closed socket has forgotten it. */
  #own: PeerCertificate | undefined;
  #isDone = false;

  /**
   * @param socket - As it was opened, before its handshake.
   * @param host - What the server's certificate has to be for.
   */
  constructor(socket: TLSSocket, host: string) {
    this.#socket = socket;
    this.#host = host;
    // A certificate that is refused can be looked at only before Node refuses it.
    socket.prependOnceListener("secure", () => {
      this.#server = present(socket.getPeerCertificate(true));
      this.#own = this.#ownNow();
    });
    socket.once("secureConnect", () => (this.#isDone = true));
  }

  /** What a failure of the connection says about a certificate; undefined when it says nothing about one. */
  describe(error: Error): string | undefined {
    const code = "code" in error ? String(error.code) : "";
    const alert = describeAlert(code, this.#own ?? this.#ownNow());
    if (alert !== undefined || this.#server === undefined) return alert;
    return describeCertificate(code, this.#server, this.#host);
  }

  /** Why a server may have closed the connection before it said anything; undefined before the handshake is done. */
  describeClose(): string | undefined {
    if (!this.#isDone) return undefined;
    const own = this.#own;
    const guess =
      own === undefined
        ? "it may ask for a client certificate, and none was given (tls.cert and tls.key)"
        : `it may not accept the client certificate ${nameOf(own)}, ${validityOf(own)}`;
    return `the server closed the connection right after the TLS handshake: ${guess}`;
  }

  #ownNow(): PeerCertificate | undefined {
    const own = this.#socket.getCertificate();
    return own === null ? undefined : present(own as PeerCertificate);
  }
}

/** What the server said about the client's certificate. */
function describeAlert(code: string, own: PeerCertificate | undefined): string | undefined {
  const shown = own === undefined ? "" : ` ${nameOf(own)}, ${validityOf(own)}`;
  switch (code) {
    case "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED":
      return "the server asks for a client certificate, and none was given (tls.cert and tls.key)";
    case "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA":
      return `the server does not know the issuer of the client certificate${shown}`;
    case "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED":
    case "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED":
      return `the server finds that the client certificate${shown} has expired`;
    case "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE":
    case "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE":
      return `the server does not accept the client certificate${shown}`;
    case "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE":
    case "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE":
      return own === undefined
        ? "the server refuses the TLS handshake: it may ask for a client certificate, and none was given (tls.cert and tls.key)"
        : `the server refuses the TLS handshake: it may not accept the client certificate${shown}`;
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "the server does not speak TLS";
    default:
      return undefined;
  }
}

/** Why the client does not accept the server's certificate. */
function describeCertificate(code: string, certificate: DetailedPeerCertificate, host: string): string | undefined {
  const what = `the server's certificate ${nameOf(certificate)}`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    const one = chainOf(certificate).find((each) => !isValidNow(each)) ?? certificate;
    return one === certificate
      ? `${what} ${validityOf(one)}`
      : `${what} was issued by ${nameOf(one)}, which ${validityOf(one)}`;
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `${what} is for ${namesIn(certificate)}, not for ${host}`;
  if (!UNKNOWN_ISSUER.has(code)) return undefined;
  const last = chainOf(certificate).at(-1) ?? certificate;
  const issuer = code.includes("SELF_SIGNED") ? `itself` : distinguished(last.issuer);
  const link = last === certificate || code.includes("SELF_SIGNED") ? "" : `, by way of ${nameOf(last)}`;
  return `${what} was issued by ${issuer}${link}, which is not among the trusted authorities (tls.ca)`;
}

/** Certificates from the server's own to the last that it sent, or that is known here. */
function chainOf(certificate: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let one: DetailedPeerCertificate | undefined = certificate;
  while (one !== undefined && chain.length < MAX_CHAIN && !chain.includes(one)) {
    chain.push(one);
    one = one.issuerCertificate;
  }
  return chain;
}

function isValidNow({ valid_from, valid_to }: PeerCertificate): boolean {
  const now = Date.now();
  return Date.parse(valid_from) <= now && now <= Date.parse(valid_to);
}

function validityOf({ valid_from, valid_to }: PeerCertificate): string {
  if (Date.now() > Date.parse(valid_to)) return `expired on ${isoDate(valid_to)}`;
  return Date.now() < Date.parse(valid_from)
    ? `is not valid before ${isoDate(valid_from)}`
    : `valid until ${isoDate(valid_to)}`;
}

function isoDate(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString().replace(".000Z", "Z");
}

const nameOf = (certificate: PeerCertificate): string => distinguished(certificate.subject);

function distinguished(name: PeerCertificate["subject"]): string {
  const { CN, O } = name;
  return JSON.stringify(String(CN ?? O ?? "(no name)").slice(0, 200));
}

/** The names that a certificate is for. */
function namesIn({ subjectaltname, subject }: PeerCertificate): string {
  if (subjectaltname === undefined) return `${distinguished(subject)} (it lists no names)`;
  const names = subjectaltname.split(", ").map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
  const shown = names.slice(0, MAX_NAMES).join(", ").slice(0, 1000);
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

/** Node gives an empty object where there is no certificate. */
function present<C extends PeerCertificate>(certificate: C | null): C | undefined {
  return certificate === null || Object.keys(certificate).length === 0 ? undefined : certificate;
}
