import type { ExitCode } from "./exit-code.ts";

/** A failure with a message for the user and an exit code of its own. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The command line cannot be understood; the process ends with 2. */
export const usageError = (message: string, options?: ErrorOptions): CliError => new CliError(2, message, options);

/** What was asked for does not exist; the process ends with 3. */
export const notFoundError = (message: string): CliError => new CliError(3, message);
