import { fileURLToPath } from "node:url";

/** The folder of this program's own code, as its stack traces name it: that of the sources, or of what is built. */
export const OWN_CODE: string = fileURLToPath(new URL("..", import.meta.url));

/** True when the topmost frame of a stack is in this program's own code: then the failure may be a bug of ours. */
export function isInOwnCode(error: Error): boolean {
  const [top] = framesOf(stackOf(error));
  return top !== undefined && top.path.startsWith(OWN_CODE);
}

/** The stack of an error, whatever a hostile one does; empty when there is none. */
export function stackOf(error: Error): string {
  try {
    return String(error.stack ?? "");
  } catch {
    return "";
  }
}

export interface Frame {
  readonly path: string;
  readonly line: string;
}

/** A file with its line: at the head of a syntax error, and in each frame. */
const FILE_AND_LINE = /(?:^|[\s(])(file:\/\/\/[^\s()]+?|\/[^\s()]+?):(\d+)(?=[:)\s]|$)/;

/** The files that a stack names, topmost first. */
export function framesOf(stack: string): readonly Frame[] {
  const [head = "", ...rest] = stack.split("\n");
  const lines = [head, ...rest.filter((line) => /^\s+at /.test(line))];
  return lines.flatMap((line) => {
    const [, file, number] = FILE_AND_LINE.exec(line) ?? [];
    if (file === undefined || number === undefined) return [];
    return [{ path: file.startsWith("file:") ? fileURLToPath(file) : file, line: number }];
  });
}
