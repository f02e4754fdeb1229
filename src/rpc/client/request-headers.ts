import type { Address } from "../address.ts";
import { formatTimeout } from "../grpc-timeout.ts";
import { checkMetadataSize, encodeMetadata, type HeaderFields, type MetadataInit, sizeOfHeaders } from "../metadata.ts";

/** Paths whose headers are kept. Programs have few; what builds paths from input must not fill memory. */
const MAX_PATHS = 200;

/** Builds the headers of requests; those of a call without metadata and deadline once per path. */
export class RequestHeaders {
  readonly #scheme: string;
  readonly #authority: string;
  readonly #metadata: HeaderFields | (() => MetadataInit);
  /** Size of what is sent with every call. Unit: bytes. */
  readonly #metadataBytes: number;
  readonly #byPath = new Map<string, HeaderFields>();

  /** @throws {TypeError | RangeError} When metadata is malformed or too large. */
  constructor(
    address: Address,
    encrypted: boolean,
    authority: string | undefined,
    metadata: MetadataInit | (() => MetadataInit) | undefined,
  ) {
    this.#scheme = encrypted ? "https" : "http";
    this.#authority = authority ?? authorityOf(address);
    this.#metadata = typeof metadata === "function" ? metadata : checked(encodeMetadata(metadata ?? {}));
    this.#metadataBytes = typeof this.#metadata === "function" ? 0 : sizeOfHeaders(this.#metadata);
  }

  /**
   * Metadata of a call, the channel's included, ready for {@link build}; undefined when it is only the channel's own.
   *
   * @throws {TypeError | RangeError} When metadata is malformed or too large.
   */
  encode(metadata: MetadataInit | undefined): HeaderFields | undefined {
    if (typeof this.#metadata === "function") return checked(encodeMetadata({ ...this.#metadata(), ...metadata }));
    return metadata && checked({ ...this.#metadata, ...encodeMetadata(metadata) });
  }

  /** Size of the metadata that a call sends; the argument is what {@link encode} gave. Unit: bytes. */
  sizeOf(metadata: HeaderFields | undefined): number {
    return metadata === undefined ? this.#metadataBytes : sizeOfHeaders(metadata);
  }

  build(path: string, metadata: HeaderFields | undefined, timeoutMs: number | undefined): HeaderFields {
    const plain = this.#plain(path);
    if (metadata === undefined && timeoutMs === undefined) return plain;
    const headers: Record<string, HeaderFields[string]> = { ...plain, ...metadata };
    if (timeoutMs !== undefined) headers["grpc-timeout"] = formatTimeout(timeoutMs);
    return headers;
  }

  #plain(path: string): HeaderFields {
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    const headers = Object.freeze({
      ":method": "POST",
      ":scheme": this.#scheme,
      ":authority": this.#authority,
      ":path": path,
      te: "trailers",
      "content-type": "application/grpc",
      "user-agent": "homeostat",
      ...(typeof this.#metadata === "function" ? undefined : this.#metadata),
    });
    if (this.#byPath.size < MAX_PATHS) this.#byPath.set(path, headers);
    return headers;
  }
}

function checked(headers: HeaderFields): HeaderFields {
  checkMetadataSize(headers);
  return headers;
}

function authorityOf(address: Address): string {
  if (address.kind === "unix") return "localhost";
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
