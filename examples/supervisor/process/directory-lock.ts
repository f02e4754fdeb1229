import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { writeAtomically } from "./write-atomically.ts";

/**
 * Takes a folder for this process alone; disposing gives it back, and so does the system when the process ends in
 * whatever way. The lock is that of an SQLite database: Node has none for files, and its locks are the system's own.
 *
 * @throws {Error} that names the holder, when another process has the folder.
 */
export async function lockDirectory(folder: string): Promise<Disposable> {
  const holder = join(folder, "lock.json");
  const database = new DatabaseSync(join(folder, "lock.db"), { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    await writeAtomically(holder, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }));
  } catch (error) {
    database.close();
    // SQLITE_BUSY
    if ((error as { readonly errcode?: unknown }).errcode !== 5) throw error;
    throw new Error(
      `another supervisor (${await describeHolder(holder)}) keeps ${folder}: stop it first, or name another folder`,
      { cause: error },
    );
  }
  return { [Symbol.dispose]: () => database.close() };
}

async function describeHolder(path: string): Promise<string> {
  try {
    const { pid, since } = JSON.parse(await readFile(path, "utf8")) as { readonly pid: number; readonly since: string };
    return `pid ${pid}, since ${since}`;
  } catch {
    return "it has only just started"; // Between lock and note.
  }
}
