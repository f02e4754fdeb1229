import { readForeign } from "./foreign-value.ts";

/**
 * What a terminal, or the reader of a line, could take for a command: C0 and C1 controls, the separators of lines and
 * paragraphs, and the marks that change the direction of text. Line breaks and tabs are not among them.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text that a terminal shows as it is: control characters, which may come from anywhere, become visible. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** {@link withoutControls} for text that has to stay on one line: it cannot pass for a line of ours. */
export function onOneLine(text: string): string {
  return withoutControls(text.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
}

/** Where an error comes from, one frame a line, without its message, which may be a peer's; "" when it does not say. */
export function stackFrames(error: Error): string {
  const [stack, message] = [readForeign(error, "stack"), readForeign(error, "message")];
  if (typeof stack !== "string") return "";
  const text = typeof message === "string" ? message : "";
  const start = stack.indexOf(text);
  const frames = stack.slice(start < 0 ? 0 : start + text.length).split("\n");
  return withoutControls(frames.filter((line) => /^ {4}at /.test(line)).join("\n"));
}
