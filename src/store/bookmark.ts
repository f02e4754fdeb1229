import { StateError, type Kind } from "../resource/index.ts";

const SECRET_BYTES = 8;
const BOOKMARK_BYTES = 16;

/**
 * Names positions in one collection's history: 8 random bytes, chosen once for the collection, then the position as a
 * big-endian 64-bit integer. Bookmarks of another collection, or of another process, are recognised as foreign.
 */
export class Bookmarks {
  readonly #kind: Kind;
  readonly #secret = globalThis.crypto.getRandomValues(new Uint8Array(SECRET_BYTES));

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  encode(position: number): Uint8Array {
    const bytes = new Uint8Array(BOOKMARK_BYTES);
    bytes.set(this.#secret);
    new DataView(bytes.buffer).setBigInt64(SECRET_BYTES, BigInt(position));
    return bytes;
  }

  /** @throws {StateError} `invalid_bookmark` when it is malformed or foreign. */
  decode(bookmark: Uint8Array): number {
    if (bookmark.length !== BOOKMARK_BYTES || this.#secret.some((byte, i) => bookmark[i] !== byte)) {
      throw this.invalid("is not one of this history");
    }
    return Number(new DataView(bookmark.buffer, bookmark.byteOffset).getBigInt64(SECRET_BYTES));
  }

  invalid(reason: string): StateError {
    const { namespace, type } = this.#kind;
    return new StateError(
      "invalid_bookmark",
      `the bookmark for a watch of ${type} in ${JSON.stringify(namespace)} ${reason}`,
    );
  }
}
