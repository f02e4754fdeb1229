/** One value of metadata: printable ASCII, or bytes under a name that ends in `-bin`. */
export type MetadataValue = string | Uint8Array;

/** Metadata to send, by name in lower case. Bytes belong to names that end in `-bin`, and only to those. */
export type MetadataInit = Readonly<Record<string, MetadataValue | readonly MetadataValue[] | undefined>>;

/** Headers as `node:http2` reads and writes them. */
export type HeaderFields = Readonly<Record<string, string | string[] | number | undefined>>;

const NAME = /^[0-9a-z_.-]+$/;
const TEXT = /^[\x20-\x7e]*$/;

/** Names that the protocol itself uses; what starts with `:` or `grpc-` is reserved as well. */
const RESERVED: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

const isBinary = (name: string): boolean => name.endsWith("-bin");
const isReserved = (name: string): boolean => name.startsWith(":") || name.startsWith("grpc-") || RESERVED.has(name);

/** Metadata that arrived with a call. Names are in lower case; each may have several values. */
export class Metadata {
  readonly #headers: HeaderFields;

  /** @param headers - A header block as received. What is part of the protocol is hidden, not removed. */
  constructor(headers: HeaderFields) {
    this.#headers = headers;
  }

  /**
   * Metadata to send, for example with a `GrpcError`.
   *
   * @throws {TypeError} When a name is malformed or reserved, or a value is not of the kind that its name asks for.
   */
  static of(init: MetadataInit): Metadata {
    return new Metadata(encodeMetadata(init));
  }

  /** The value of `name`; several of them joined by `, `. Undefined when absent, and for `-bin` names. */
  get(name: string): string | undefined {
    if (isReserved(name) || isBinary(name)) return undefined;
    return this.#text(name);
  }

  /** The values of a `-bin` name, decoded; empty when absent. What is no base64 decodes to what can be read of it. */
  getBytes(name: string): Uint8Array[] {
    if (isReserved(name) || !isBinary(name)) return [];
    return decodeBytes(this.#text(name));
  }

  /** Names of what was sent, in no order. */
  *names(): IterableIterator<string> {
    for (const name in this.#headers) if (!isReserved(name)) yield name;
  }

  /** What was sent, as headers. */
  toHeaders(): HeaderFields {
    const headers: Record<string, HeaderFields[string]> = Object.create(null);
    for (const name of this.names()) headers[name] = this.#headers[name];
    return headers;
  }

  #text(name: string): string | undefined {
    const value = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined;
    return typeof value === "object" ? value.join(", ") : value?.toString();
  }
}

/** Metadata with nothing in it. */
export const noMetadata: Metadata = new Metadata(Object.freeze({}));

/** The values of a binary header: base64 with or without padding, several separated by commas. */
export function decodeBytes(text: string | undefined): Uint8Array[] {
  if (text === undefined) return [];
  // Errors and their details live for long: they must not keep the pool alive that small buffers share.
  return text.split(",").map((one) => new Uint8Array(Buffer.from(one, "base64")));
}

/** Bytes as a binary header holds them: base64 without padding. */
export function encodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64").replace(/=+$/, "");
}

/**
 * Headers for metadata.
 *
 * @throws {TypeError} When a name is malformed or reserved, or a value is not of the kind that its name asks for.
 */
export function encodeMetadata(init: MetadataInit): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const [name, values] of Object.entries(init)) {
    if (values === undefined) continue;
    if (!NAME.test(name)) {
      throw new TypeError(`metadata name ${JSON.stringify(name)} may have only a-z, 0-9, "_", "-" and "."`);
    }
    if (isReserved(name)) throw new TypeError(`metadata name "${name}" is reserved by gRPC`);
    headers[name] =
      typeof values === "string" || values instanceof Uint8Array
        ? encodeValue(name, values)
        : values.map((value) => encodeValue(name, value));
  }
  return headers;
}

function encodeValue(name: string, value: MetadataValue): string {
  if (isBinary(name)) {
    if (value instanceof Uint8Array) return encodeBytes(value);
    throw new TypeError(`metadata "${name}" takes bytes, as its name ends in "-bin"`);
  }
  if (typeof value !== "string") throw new TypeError(`metadata "${name}" takes text; names of bytes end in "-bin"`);
  if (!TEXT.test(value)) throw new TypeError(`metadata "${name}" may have only printable ASCII characters`);
  return value;
}

/**
 * Metadata that is sent may have this size: beyond, peers may refuse the call, and Node the whole connection. Unit:
 * bytes, as HTTP/2 counts them.
 */
const MAX_METADATA_BYTES = 15 * 1024;

/** @throws {RangeError} When metadata to send is too large. */
export function checkMetadataSize(headers: HeaderFields): void {
  const bytes = sizeOfHeaders(headers);
  if (bytes <= MAX_METADATA_BYTES) return;
  throw new RangeError(`metadata of ${bytes} bytes is larger than the ${MAX_METADATA_BYTES} that can be sent`);
}

/** Size of headers as HTTP/2 counts it: 32 bytes for each on top of its text. */
export function sizeOfHeaders(headers: HeaderFields): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    for (const one of typeof value === "object" ? value : [value]) bytes += name.length + String(one).length + 32;
  }
  return bytes;
}
