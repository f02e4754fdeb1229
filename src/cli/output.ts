import { withoutControls } from "../internal/visible-text.ts";

/** Where text goes: standard output or error, or a test's record of it. */
export interface Output {
  /** Resolves when the reader has room for more. @throws {BrokenPipe} when nobody reads any more. */
  write(text: string): Promise<void>;
  /** True for a terminal. */
  readonly isTerminal: boolean;
}

/** Nobody reads the output any more: the end of the work, and no failure. */
export class BrokenPipe extends Error {
  override readonly name: string = "AbortError";
}

/**
 * An {@link Output} on a stream of the process.
 *
 * @param onBroken - Called once, when its reader has gone; writing then throws. Without it what nobody reads is dropped.
 */
export function streamOutput(stream: NodeJS.WriteStream, onBroken?: (reason: BrokenPipe) => void): Output {
  let broken: BrokenPipe | undefined;
  const breakWith = (error: Error): void => {
    if (broken !== undefined) return;
    broken = new BrokenPipe(`nobody reads the output any more: ${error.message}`, { cause: error });
    onBroken?.(broken);
  };
  stream.on("error", breakWith);
  return {
    isTerminal: stream.isTTY === true,
    async write(text) {
      if (broken === undefined && text !== "") {
        await new Promise<void>((resolve) => {
          stream.write(text, (error) => {
            if (error) breakWith(error);
            resolve();
          });
        });
      }
      if (broken !== undefined && onBroken !== undefined) throw broken;
    },
  };
}

/** Writes text that resources brought along: as it is to a file or pipe, made harmless to a terminal. */
export function writeForeign(output: Output, text: string): Promise<void> {
  return output.write(output.isTerminal ? withoutControls(text) : text);
}
