import { withoutControls } from "../internal/visible-text.ts";
import { CliError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";

/** Where text goes: standard output or error, or a test's record of it. */
export interface Output {
  /** Resolves when the reader has room for more. @throws {BrokenPipe} once the reader has gone. */
  write(text: string): Promise<void>;
  /** True for a terminal. */
  readonly isTerminal: boolean;
}

/** The reader of the output has gone: the end of the work, and no failure. */
export class BrokenPipe extends Error {
  override readonly name: string = "AbortError";
}

/** What the system says when a reader has gone; everything else, such as a full disk, is a failure. */
const GONE: ReadonlySet<unknown> = new Set(["EPIPE", "ECONNRESET", "EOF", "ERR_STREAM_DESTROYED"]);

/**
 * An {@link Output} on a stream of the process.
 *
 * @param onBroken - Called once, when it cannot be written any more, with a {@link BrokenPipe} or a {@link CliError};
 *   writing then throws the same. Without it, what cannot be written is dropped.
 */
export function streamOutput(stream: NodeJS.WriteStream, onBroken?: (reason: Error) => void): Output {
  let broken: Error | undefined;
  const breakWith = (cause: NodeJS.ErrnoException): void => {
    if (broken !== undefined) return;
    broken = GONE.has(cause.code)
      ? new BrokenPipe(`the reader of the output has gone: ${cause.message}`, { cause })
      : new CliError(ExitCode.failed, `the output cannot be written: ${cause.message}`, { cause });
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
