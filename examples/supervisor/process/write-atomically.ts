import { randomUUID } from "node:crypto";
import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file so that a reader sees either the old content or the new one, even if this process dies at any
 * moment. The folder must exist.
 *
 * @param mode - Permissions of the file. Default: 0o644.
 */
export async function writeAtomically(path: string, content: string, mode = 0o644): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, content, { flag: "wx", mode });
    // The mode of a new file is subject to the umask.
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
