/** Characters that take two cells of a terminal. */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;
const SEGMENTER = new Intl.Segmenter();

/** The cells that a text without control characters takes on a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

export const padToWidth = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - textWidth(text)));
