/** Characters that take two cells of a terminal. */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const ASCII = /^[\u0020-\u007e]*$/;
const SEGMENTER = new Intl.Segmenter();

/** The cells that a text without control characters takes on a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** As much of the beginning as fits. */
export function take(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns));
  let [shown, left] = ["", columns];
  for (const { segment } of SEGMENTER.segment(text)) {
    left -= textWidth(segment);
    if (left < 0) break;
    shown += segment;
  }
  return shown;
}

/** The text, or what fits of it and a sign that something is missing. */
export function cut(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  return columns > 0 ? `${take(text, columns - 1)}…` : "";
}

export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));
