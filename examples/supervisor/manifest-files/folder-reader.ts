import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";

import type { Clock } from "homeostat";

/** A manifest as it is on disk, or why it cannot be read. */
export type ManifestFile =
  | { readonly name: string; readonly text: string; readonly error?: undefined }
  | { readonly name: string; readonly error: string; readonly text?: undefined };

/** Larger files are refused. Unit: bytes. */
const MAX_BYTES = 4 * 2 ** 20;
/** How long the system may take for one file. Unit: milliseconds. */
const TIMEOUT_MS = 2_000;
/** Quiet time after a change, so that an editor's several steps count as one. Unit: milliseconds. */
const SETTLE_MS = 50;
/** A folder that never gets quiet is read after this time all the same. Unit: milliseconds. */
const MAX_SETTLE_MS = 300;
/** Each that does not respond keeps one of the four threads that Node has for files, so no unknown ones are tried then. */
const MAX_STALLED = 2;

/** YAML files, but no hidden ones: editors keep their drafts there. */
const isManifest = (file: string): boolean => /^[^.].*\.ya?ml$/i.test(file);

/**
 * Reads the manifests of a folder, whatever else there is: what is no regular file is not opened, and what does not
 * respond is given up.
 */
export class FolderReader {
  readonly path: string;
  readonly #clock: Clock;
  readonly #readFile: typeof readManifest;
  readonly #stalled = new Set<string>();
  /** What has responded the last time. */
  readonly #responsive = new Set<string>();
  #gaveUp = 0;
  /** Device and inode of the folder in which there were manifests. */
  #known: string | undefined;
  /** What the folder looked like when it had changed the last time. */
  #seen: string | undefined;

  /** @param readFile - How a file is read. Default: the real thing. */
  constructor(path: string, clock: Clock, readFile: typeof readManifest = readManifest) {
    this.path = path;
    this.#clock = clock;
    this.#readFile = readFile;
  }

  /**
   * The manifests, by name. One that cannot be read comes with the reason.
   *
   * @throws {Error} when the folder cannot be read, or another one without manifests has taken its place: somebody is
   * about to bring it back.
   */
  async read(): Promise<ManifestFile[]> {
    const { names, identity } = await this.#list();
    if (names.length > 0) this.#known = identity;
    else if (this.#known !== undefined && this.#known !== identity) {
      throw new Error("it was replaced by a folder without manifests; everything stays as it is until there is one");
    }
    this.#gaveUp = 0;
    const files: ManifestFile[] = [];
    // One after the other, so that few threads are lost to those that do not respond.
    for (const name of names) {
      const path = join(this.path, name);
      const file = await this.#bounded(path, () => this.#readFile(path)).catch((error: NodeJS.ErrnoException) => {
        return { error: error.code === undefined ? error.message : `cannot be read: ${error.message}` };
      });
      if (file !== undefined) files.push({ name, ...file });
    }
    return files;
  }

  /**
   * True the first time, and when a manifest was changed, added or removed since, another folder has taken the place of
   * this one, or something did not respond. The change is over then: {@link read} gives what came of it.
   */
  async changed(): Promise<boolean> {
    let signature = await this.#signature();
    if (signature === this.#seen) return this.#gaveUp > 0;
    const startMs = this.#clock.monotonic();
    while (this.#seen !== undefined && this.#clock.monotonic() - startMs < MAX_SETTLE_MS) {
      await this.#clock.sleep(SETTLE_MS);
      const before = signature;
      signature = await this.#signature();
      if (signature === before) break;
    }
    this.#seen = signature;
    return true;
  }

  /** What tells the folder from another one, and from itself after a change. */
  async #signature(): Promise<string> {
    try {
      const { names, identity } = await this.#list();
      const parts = [identity];
      for (const name of names) {
        const path = join(this.path, name);
        const { mtimeMs, ctimeMs, size, ino } = await this.#bounded(path, () => stat(path)).catch(() => NO_STATS);
        parts.push(`${name}:${mtimeMs}:${ctimeMs}:${size}:${ino}`);
      }
      return parts.join("\n");
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** @throws {Error} when the folder changes its place meanwhile: the next look tells what came of it. */
  async #list(): Promise<{ names: string[]; identity: string }> {
    const { path } = this;
    return this.#bounded(path, async () => {
      const before = await identityOf(path);
      const names = (await readdir(path)).filter(isManifest).sort();
      if ((await identityOf(path)) !== before) throw new Error("is being replaced");
      return { names, identity: before };
    });
  }

  /** The result of a call, as long as it comes in time and not too many others are under way. */
  async #bounded<T>(path: string, call: () => Promise<T>): Promise<T> {
    const isFull = this.#stalled.size >= MAX_STALLED && !this.#responsive.has(path);
    if (isFull || this.#stalled.has(path)) {
      this.#gaveUp += 1;
      throw new Error(this.#stalled.has(path) ? SILENT : "is not read as long as others do not respond");
    }
    const work = call();
    const enough = new AbortController();
    const timeout = this.#clock.sleep(TIMEOUT_MS, { signal: enough.signal }).then(() => TIMED_OUT);
    const result = await Promise.race([work, timeout]).finally(() => enough.abort());
    if (result !== TIMED_OUT) {
      this.#responsive.add(path);
      return result as T;
    }
    this.#responsive.delete(path);
    this.#gaveUp += 1;
    this.#stalled.add(path);
    void work.catch(() => {}).finally(() => this.#stalled.delete(path));
    throw new Error(SILENT);
  }
}

const SILENT = `does not respond within ${TIMEOUT_MS} ms`;
const TIMED_OUT = Symbol("timed out");
const NO_STATS: Pick<Stats, "mtimeMs" | "ctimeMs" | "size" | "ino"> = { mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0 };

async function identityOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder);
  return `${dev}:${ino}`;
}

/** Undefined for a file that has gone away meanwhile. */
async function readManifest(path: string): Promise<{ text: string } | { error: string } | undefined> {
  try {
    // Before it is opened: opening alone may do something to a device.
    const before = kindOf(await stat(path));
    if (before !== undefined) return { error: `is ${before}, not a regular file` };
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const kind = kindOf(await file.stat());
    if (kind !== undefined) return { error: `is ${kind}, not a regular file` };
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of file.createReadStream({ end: MAX_BYTES, autoClose: false })) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).byteLength;
    }
    if (bytes > MAX_BYTES) return { error: `has more than the ${MAX_BYTES} bytes allowed` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch (error) {
    if (error instanceof TypeError) return { error: "is not valid UTF-8 text" };
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const link = await lstat(path).catch(() => undefined);
  if (link?.isSymbolicLink() !== true) return undefined;
  return { error: `is a symbolic link to ${await readlink(path)}, which does not exist` };
}

/** Undefined for a regular file. */
function kindOf(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}
