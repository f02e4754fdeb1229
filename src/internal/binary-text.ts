/** Characters that are made at once: more arguments than that overflow the stack. */
const CHUNK = 4096;

/**
 * Bytes as a text with one character, U+0000 to U+00FF, for each. Such a text cannot be changed, costs no more memory
 * than its bytes, and is the engine's own: bytes that are kept for long are better kept so, as each small array of
 * bytes brings a block of memory of its own along.
 */
export function toBinaryText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

/** The bytes that {@link toBinaryText} made a text of. */
export function fromBinaryText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
