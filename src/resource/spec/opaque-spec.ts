import { fromBinaryText, toBinaryText } from "../../internal/binary-text.ts";

/** What a peer sent of a spec. */
export interface OpaqueParts {
  /** The spec's own binary encoding. */
  readonly bytes?: Uint8Array | undefined;
  /** The same, as a text with one character for each byte, in place of `bytes`. */
  readonly binary?: string | undefined;
  /** The spec as YAML text. */
  readonly yaml?: string | undefined;
}

/**
 * Spec of a resource whose type is not registered here: the bytes and the YAML text that a peer sent, kept verbatim
 * so that they can be passed on unchanged.
 */
export class OpaqueSpec {
  /** The spec's own binary encoding, one character for each byte, when the peer sent it. */
  readonly #binary: string | undefined;
  /** The spec as YAML text, when the peer sent it. */
  readonly yaml: string | undefined;

  constructor(parts: OpaqueParts) {
    this.#binary = parts.binary ?? (parts.bytes && toBinaryText(parts.bytes));
    this.yaml = parts.yaml;
    Object.freeze(this);
  }

  /** The spec's own binary encoding, when the peer sent it: a copy, the caller's to change. */
  get bytes(): Uint8Array | undefined {
    return this.#binary === undefined ? undefined : fromBinaryText(this.#binary);
  }

  /** {@link bytes} as a text with one character for each byte. */
  get binary(): string | undefined {
    return this.#binary;
  }

  get byteLength(): number {
    return (this.#binary?.length ?? 0) + (this.yaml?.length ?? 0);
  }

  equals(other: unknown): boolean {
    return other instanceof OpaqueSpec && this.yaml === other.yaml && this.#binary === other.#binary;
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
}
