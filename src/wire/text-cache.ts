/** Longer texts are not worth it. Unit: bytes. */
const MAX_LENGTH = 64;
const SLOTS = 512;

/**
 * Texts that come again and again: types, label keys, owners. Finding one among the bytes of a message is quicker than
 * decoding it, and all who hold it share one string. Of fixed size: a text takes the place of another.
 */
export class TextCache {
  readonly #slots: string[] = Array.from({ length: SLOTS }, () => "");

  /** The text in ASCII that these bytes are, if it is here. */
  find(bytes: Uint8Array, from: number, length: number): string | undefined {
    if (length > MAX_LENGTH) return undefined;
    const text = this.#slots[slotOf(bytes, from, length)];
    if (text === undefined || text.length !== length) return undefined;
    for (let i = 0; i < length; i++) {
      if (text.charCodeAt(i) !== bytes[from + i]) return undefined;
    }
    return text;
  }

  /** Keeps a text that was decoded from these bytes, if it is ASCII and short. */
  keep(bytes: Uint8Array, from: number, length: number, text: string): void {
    if (length <= MAX_LENGTH && text.length === length) this.#slots[slotOf(bytes, from, length)] = text;
  }
}

function slotOf(bytes: Uint8Array, from: number, length: number): number {
  const last = bytes[from + length - 1] ?? 0;
  const middle = bytes[from + (length >>> 1)] ?? 0;
  return (length * 31 + (bytes[from] ?? 0) * 7 + middle * 13 + last * 37) % SLOTS;
}
