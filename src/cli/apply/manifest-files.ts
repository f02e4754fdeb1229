import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";

/** A text with manifests, and how to call it in messages. */
export interface ManifestText {
  readonly file: string;
  readonly text: string;
}

const MANIFEST = /\.(?:ya?ml|json)$/i;

/**
 * Reads files, all manifests of a folder (by name), or standard input for `-`.
 *
 * @throws {CliError} usage, for a path that is not there, a folder without manifests.
 */
export async function readManifestFiles(
  names: readonly string[],
  isRecursive: boolean,
  { cwd, readStdin }: Pick<CommandContext, "cwd" | "readStdin">,
): Promise<readonly ManifestText[]> {
  if (names.filter((name) => name === "-").length > 1) throw usageError("standard input (-) can be read once");
  const texts: ManifestText[] = [];
  for (const name of names) {
    if (name === "-") {
      texts.push({ file: "stdin", text: await readStdin() });
      continue;
    }
    for (const file of await filesOf(name, resolve(cwd, name), isRecursive)) {
      texts.push({ file, text: await readFile(resolve(cwd, file), "utf8") });
    }
  }
  return texts;
}

async function filesOf(name: string, path: string, isRecursive: boolean): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw usageError(`${name} cannot be read: ${cause.code ?? cause.message}`, { cause });
  });
  if (!found.isDirectory()) return [name];
  const entries = await readdir(path, { withFileTypes: true, recursive: isRecursive });
  const files = entries
    .filter((entry) => !entry.isDirectory() && MANIFEST.test(entry.name))
    .map((entry) => join(name, join(entry.parentPath, entry.name).slice(path.length)))
    .toSorted();
  if (files.length === 0) {
    throw usageError(`the folder ${name} has no .yaml, .yml or .json files${isRecursive ? "" : "; -R looks deeper"}`);
  }
  return files;
}
