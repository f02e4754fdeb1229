import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ROOT: string = join(import.meta.dirname, "../..");

/** What a new copy takes over from the last one: the results so far. */
const KEPT: ReadonlySet<string> = new Set(["reports"]);

/**
 * The folder in which code is changed: a copy of the files that Git knows or would add, one for each checkout, so that
 * neither an interruption nor a mutant ever touches the work tree.
 *
 * @param asItIs - Leaves the copy as the last run left it.
 */
export function prepareCopy(asItIs: boolean): string {
  const copy = join(tmpdir(), `homeostat-mutate-${createHash("sha256").update(ROOT).digest("hex").slice(0, 12)}`);
  if (asItIs) return copy;
  mkdirSync(copy, { recursive: true });
  lock(copy);
  for (const name of readdirSync(copy)) {
    if (!KEPT.has(name)) rmSync(join(copy, name), { recursive: true, force: true });
  }
  lock(copy);
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const file of files.toString().split("\0")) {
    const source = join(ROOT, file);
    if (file !== "" && existsSync(source)) cpSync(source, join(copy, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Two runs in one copy would change each other's code. */
function lock(copy: string): void {
  const path = join(copy, "pid");
  const owner = existsSync(path) ? Number(readFileSync(path, "utf8")) : process.pid;
  if (owner !== process.pid && isAlive(owner))
    throw new Error(`a mutation run of this checkout is in progress: pid ${owner}`);
  writeFileSync(path, String(process.pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
