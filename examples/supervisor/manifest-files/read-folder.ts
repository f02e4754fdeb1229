import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** A manifest as it is on disk, or why it cannot be read. */
export type ManifestFile =
  | { readonly name: string; readonly text: string; readonly error?: undefined }
  | { readonly name: string; readonly error: string; readonly text?: undefined };

/** Larger files are refused. Unit: bytes. */
const LARGEST_BYTES = 4 * 2 ** 20;

/** YAML files, but no hidden ones: editors keep their drafts there. */
export const isManifest = (file: string): boolean => /^[^.].*\.ya?ml$/i.test(file);

/** The manifests in a folder, by name. @throws {Error} when the folder cannot be read. */
export async function readFolder(folder: string): Promise<ManifestFile[]> {
  const names = (await readdir(folder)).filter(isManifest).sort();
  const files = await Promise.all(names.map((name) => readManifest(folder, name)));
  return files.filter((file) => file !== undefined);
}

/** Undefined for a file that went away meanwhile. */
async function readManifest(folder: string, name: string): Promise<ManifestFile | undefined> {
  const path = join(folder, name);
  try {
    const { size } = await stat(path);
    if (size > LARGEST_BYTES) return { name, error: `has ${size} bytes, more than the ${LARGEST_BYTES} allowed` };
    const bytes = await readFile(path);
    return { name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { name, error: `cannot be read: ${(error as Error).message}` };
  }
}
