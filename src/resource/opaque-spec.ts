/**
 * Spec of a resource whose type nobody registered here: the bytes and the YAML text that a peer sent, kept verbatim
 * so that they can be passed on unchanged.
 */
export class OpaqueSpec {
  readonly #bytes: Uint8Array | undefined;
  /** The spec as YAML text, when the peer sent it. */
  readonly yaml: string | undefined;

  /** @param owned - The bytes are nobody else's any more, so that no copy is needed. Default: false. */
  constructor(parts: { readonly bytes?: Uint8Array | undefined; readonly yaml?: string | undefined }, owned = false) {
    this.#bytes = owned ? parts.bytes : parts.bytes && new Uint8Array(parts.bytes);
    this.yaml = parts.yaml;
    Object.freeze(this);
  }

  /** The spec's own binary encoding, when the peer sent it: a copy, the caller's to change. */
  get bytes(): Uint8Array | undefined {
    return this.#bytes && new Uint8Array(this.#bytes);
  }

  get byteLength(): number {
    return (this.#bytes?.byteLength ?? 0) + (this.yaml?.length ?? 0);
  }

  equals(other: unknown): boolean {
    return other instanceof OpaqueSpec && this.yaml === other.yaml && sameOptionalBytes(this.#bytes, other.#bytes);
  }
}

function sameOptionalBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameBytes(a, b);
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
}
