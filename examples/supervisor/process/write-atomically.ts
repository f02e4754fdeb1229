import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
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
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      // The mode of `open` is subject to the umask.
      await file.chmod(mode);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
