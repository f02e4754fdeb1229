import { spawn } from "node:child_process";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";

/**
 * Opens a file in the user's editor and waits until it is closed.
 *
 * @throws {CliError} usage, when there is none. @throws {Error} when it fails.
 */
export async function runEditor(
  file: string,
  { env, holdInterrupts }: Pick<CommandContext, "env" | "holdInterrupts">,
): Promise<void> {
  using _hold = holdInterrupts();
  const editor = env["VISUAL"] || env["EDITOR"] || "vi";
  // An editor may come with arguments (`code --wait`), so that a shell has to read it; the file is never part of that.
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit", env })
      : spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
  const { promise, resolve, reject } = Promise.withResolvers<number | NodeJS.Signals | null>();
  child.once("error", reject);
  child.once("exit", (code, signal) => resolve(signal ?? code));
  const end = await promise;
  if (end === 127)
    throw usageError(`the editor ${JSON.stringify(editor)} was not found; VISUAL or EDITOR names another`);
  if (end !== 0) throw new Error(`the editor ${JSON.stringify(editor)} ended with ${end}`);
}
