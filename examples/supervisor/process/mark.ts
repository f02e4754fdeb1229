import { createHash, randomInt } from "node:crypto";

import { HAS_PROC, inspectProcess, listPids, readProc, type ProcessInfo } from "./processes.ts";

/**
 * What a process of a service hands down to everything that it starts, and by which a supervisor finds those again. There
 * are two copies of it:
 *
 * - the soft limit of file locks, a number that no kernel since Linux 2.4 enforces. It outlives whatever a program does to
 *   its arguments, its environment, its session and its open files; daemons that rewrite their title keep it.
 * - an environment variable, for systems that do not let the limit be set. It names the service as well.
 */
export interface Mark {
  /** The upper half says which supervisor, the lower one is random. */
  readonly number: bigint;
  readonly service: string;
}

export interface MarkedProcess extends ProcessInfo {
  readonly number: bigint;
  /** Undefined when the process has overwritten its environment. */
  readonly service: string | undefined;
}

const VARIABLE = "HOMEOSTAT_SUPERVISED";
/** Random bits, so that the whole number has 63. */
const RANDOM_BITS = 31n;

/** A mark that no process has yet. @param records - Folder of the supervisor's records: tells supervisors apart. */
export function newMark(records: string, service: string): Mark {
  return { number: (keyOf(records) << RANDOM_BITS) | BigInt(randomInt(2 ** 31)), service };
}

/** The variable that carries the mark. */
export const markInEnvironment = ({ number, service }: Mark): Record<string, string> => ({
  [VARIABLE]: `${number} ${service}`,
});

/** All processes with a mark of the supervisor of these records. Linux only: elsewhere none is found. */
export async function findMarked(records: string): Promise<readonly MarkedProcess[]> {
  if (!HAS_PROC) return [];
  const key = keyOf(records);
  const found = await Promise.all(
    (await listPids()).map(async (pid) => {
      const [limits = "", environment = ""] = await Promise.all([readProc(pid, "limits"), readProc(pid, "environ")]);
      const variable = environment.split("\0").find((one) => one.startsWith(`${VARIABLE}=`));
      const [, written, service] = /^\w+=(\d{1,19}) (.*)$/.exec(variable ?? "") ?? [];
      const limit = /^Max file locks +(\d+)/m.exec(limits)?.[1];
      const number = [limit, written]
        .flatMap((text) => text ?? [])
        .map(BigInt)
        .find((one) => one >> RANDOM_BITS === key);
      const info = number === undefined ? undefined : await inspectProcess(pid);
      return info && number !== undefined ? { ...info, number, service } : undefined;
    }),
  );
  return found.filter((one) => one !== undefined);
}

const keyOf = (records: string): bigint =>
  BigInt(`0x${createHash("sha256").update(records).digest("hex").slice(0, 8)}`);

/**
 * {@link findMarked} for many callers at the same time: those who ask while a search runs share the next one, so that each
 * gets a result that is newer than the question.
 */
export class MarkedSearch {
  readonly #records: string;
  #running: Promise<unknown> | undefined;
  #next: Promise<readonly MarkedProcess[]> | undefined;

  constructor(records: string) {
    this.#records = records;
  }

  find(): Promise<readonly MarkedProcess[]> {
    this.#next ??= this.#search();
    return this.#next;
  }

  async #search(): Promise<readonly MarkedProcess[]> {
    await this.#running?.catch(() => {});
    const search = findMarked(this.#records);
    this.#running = search;
    this.#next = undefined;
    return search;
  }
}
