import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { inspectProcess } from "./processes.ts";
import { waitUntil } from "./wait-until.ts";
import { writeAtomically } from "./write-atomically.ts";

/** Another supervisor works in the folder. */
export class DirectoryLockedError extends Error {
  override readonly name: string = "DirectoryLockedError";
  readonly pid: number;

  constructor(folder: string, holder: Claim) {
    super(
      `another supervisor (pid ${holder.pid}, since ${holder.since}) keeps ${folder}: stop it first, or name another folder`,
    );
    this.pid = holder.pid;
  }
}

/** What a supervisor leaves in the folder: `….wanted` while it looks around, `….held` when the folder is its own. */
interface Claim {
  readonly token: string;
  readonly pid: number;
  readonly birth: string;
  readonly since: string;
  readonly held: boolean;
}

/** How long an older claim waits for a younger one to give up. Unit: milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Takes a folder for this process alone; disposing gives it back.
 *
 * Each process writes a claim of its own before it looks at the others', so of two that start together at least one
 * sees the other. A claim carries its process's birth: claims of dead processes are removed, and nobody ever removes
 * the claim of a live one.
 *
 * @throws {DirectoryLockedError} when another process has it.
 */
export async function lockDirectory(folder: string): Promise<AsyncDisposable> {
  const me = await inspectProcess(process.pid);
  if (me === undefined) throw new Error("cannot find out when this process was started: are /proc and ps missing?");
  const mine: Claim = {
    token: randomUUID(),
    pid: me.pid,
    birth: me.birth,
    since: new Date().toISOString(),
    held: false,
  };
  const wanted = join(folder, `${mine.token}.wanted`);
  const held = join(folder, `${mine.token}.held`);

  await writeAtomically(wanted, JSON.stringify(mine));
  try {
    const younger = async (): Promise<boolean> => {
      const others = await liveClaims(folder, mine);
      const winner = others.find((one) => one.held || isOlder(one, mine));
      if (winner !== undefined) throw new DirectoryLockedError(folder, winner);
      return others.length > 0;
    };
    if (!(await waitUntil(async () => !(await younger()), PATIENCE_MS))) {
      const [other = mine] = await liveClaims(folder, mine);
      throw new DirectoryLockedError(folder, other);
    }
    await rename(wanted, held);
  } catch (error) {
    await rm(wanted, { force: true });
    throw error;
  }
  return { [Symbol.asyncDispose]: () => rm(held, { force: true }) };
}

const isOlder = (a: Claim, b: Claim): boolean => a.since < b.since || (a.since === b.since && a.token < b.token);

/** The claims of others that live. Those of the dead are removed on the way. */
async function liveClaims(folder: string, mine: Claim): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const file of await readdir(folder)) {
    const [, token] = /^([0-9a-f-]{36})\.(?:wanted|held)$/.exec(file) ?? [];
    if (token === undefined || token === mine.token) continue;
    const claim = await readClaim(folder, token);
    if (claim === undefined) continue;
    if ((await inspectProcess(claim.pid))?.birth === claim.birth) claims.push(claim);
    else await rm(join(folder, `${token}.${claim.held ? "held" : "wanted"}`), { force: true });
  }
  return claims;
}

/** Undefined when it went away meanwhile. A wanted claim that cannot be found may have become a held one. */
async function readClaim(folder: string, token: string): Promise<Claim | undefined> {
  for (const held of [false, true]) {
    try {
      const content = await readFile(join(folder, `${token}.${held ? "held" : "wanted"}`), "utf8");
      return { ...parseClaim(content), token, held };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return undefined;
}

/** A file that is no claim was cut short by a crash of the machine: it is that of a dead process. */
function parseClaim(content: string): Pick<Claim, "pid" | "birth" | "since"> {
  try {
    const { pid, birth, since } = JSON.parse(content) as Partial<Claim>;
    if (typeof pid === "number" && typeof birth === "string" && typeof since === "string") return { pid, birth, since };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { pid: 0, birth: "", since: "" };
}
