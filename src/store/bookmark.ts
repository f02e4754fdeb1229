import { StateError, type Kind } from "../resource/index.ts";

const SECRET_BYTES = 8;
const BOOKMARK_BYTES = 16;

/** What is different in each life of a State: 8 bytes. */
export type Epoch = Uint8Array;

/** A random epoch. */
export const createEpoch = (): Epoch => globalThis.crypto.getRandomValues(new Uint8Array(SECRET_BYTES));

/** @throws {RangeError} when an epoch given by a caller is not {@link SECRET_BYTES} long. */
export function checkEpoch(epoch: Epoch): void {
  if (epoch instanceof Uint8Array && epoch.length === SECRET_BYTES) return;
  const got = epoch instanceof Uint8Array ? `${epoch.length} bytes` : typeof epoch;
  throw new RangeError(`epoch must be a Uint8Array of ${SECRET_BYTES} bytes, got ${got}`);
}

/**
 * Names positions in one collection's history: 8 bytes that depend on the State's life and the kind, then the position as
 * a big-endian 64-bit integer. Bookmarks of another collection, or of another process, are recognised as foreign.
 */
export class Bookmarks {
  readonly #kind: Kind;
  readonly #secret: Uint8Array;

  constructor(kind: Kind, epoch: Epoch) {
    this.#kind = kind;
    this.#secret = mark(epoch, kind);
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

/** The epoch, mixed with the kind: FNV-1a, twice. It tells kinds apart; it need not resist an attack. */
function mark(epoch: Epoch, { namespace, type }: Kind): Uint8Array {
  const text = `${namespace}\0${type}`;
  const bytes = Uint8Array.from(epoch);
  const view = new DataView(bytes.buffer);
  for (const [offset, seed] of [
    [0, 0x811c9dc5],
    [4, 0x01000193],
  ] as const) {
    let hash: number = seed;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    view.setUint32(offset, view.getUint32(offset) ^ hash);
  }
  return bytes;
}
