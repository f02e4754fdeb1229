import { mkdir } from "node:fs/promises";
import { dirname, sep } from "node:path";

/**
 * Makes a folder, and missing ones above it as far as `root`, which must exist already.
 *
 * Never more than that: when somebody moves the folder of manifests away, a write into it must not bring it back, empty,
 * since an empty folder says that nothing should run.
 */
export async function makeFolder(path: string, root: string): Promise<void> {
  if (path === root) return;
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    const above = dirname(path);
    if (code !== "ENOENT" || !above.startsWith(`${root}${sep}`)) throw error;
    await makeFolder(above, root);
    await mkdir(path);
  }
}
