const PLAIN = /^[\x20-\x24\x26-\x7e]*$/;

/**
 * Text for a `grpc-message` header: its UTF-8 bytes, everything but printable ASCII percent-encoded.
 *
 * @param maxBytes - What is longer, once encoded, is cut at a character and ends in "...". At least 3.
 */
export function encodeMessage(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && PLAIN.test(text)) return text;
  // A character takes at least one byte, so that more of the text is never looked at.
  const cut = text.length > maxBytes;
  const pieces: string[] = [];
  let length = 0;
  // Where the text has to end to leave room for the dots.
  let fitting = 0;
  for (const character of text.slice(0, maxBytes + 1)) {
    const piece = encodeCharacter(character);
    if (length + piece.length > maxBytes) return `${pieces.slice(0, fitting).join("")}...`;
    pieces.push(piece);
    length += piece.length;
    if (length + 3 <= maxBytes) fitting = pieces.length;
  }
  return cut ? `${pieces.slice(0, fitting).join("")}...` : pieces.join("");
}

function encodeCharacter(character: string): string {
  if (PLAIN.test(character)) return character;
  let encoded = "";
  for (const byte of Buffer.from(character, "utf8")) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return encoded;
}

/** The text in a `grpc-message` header. What is badly encoded stays as it is: an error text is better than none. */
export function decodeMessage(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}
