import { readFile } from "node:fs/promises";

/** The version of the package that this file is part of. */
export async function packageVersion(): Promise<string> {
  // The same way up from the sources and from what is built of them.
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new TypeError("package.json has no version");
}
