import type { ProcessInfo } from "./process-info.ts";
import { findByEnvironment } from "./processes.ts";

/** Environment variable that every process of a supervisor carries, and hands down to what it starts. */
export const MARKER = "HOMEOSTAT_SUPERVISED";

/** What the variable says. */
export interface Marker {
  /** Folder of the supervisor's records: tells supervisors apart. */
  readonly records: string;
  readonly service: string;
  /** Differs for each process that the supervisor starts. */
  readonly token: string;
}

export const encodeMarker = ({ records, service, token }: Marker): string => JSON.stringify([records, service, token]);

/** All processes that carry a marker. Linux only: elsewhere no process is found. */
export async function findMarked(): Promise<readonly (ProcessInfo & Marker)[]> {
  return (await findByEnvironment(MARKER)).flatMap(({ value, ...info }) => {
    const marker = decodeMarker(value);
    return marker === undefined ? [] : [{ ...info, ...marker }];
  });
}

function decodeMarker(value: string): Marker | undefined {
  try {
    const [records, service, token] = JSON.parse(value) as unknown[];
    if (typeof records === "string" && typeof service === "string" && typeof token === "string") {
      return { records, service, token };
    }
  } catch {
    // Somebody else's variable of the same name.
  }
  return undefined;
}

/**
 * {@link findMarked} for many who ask at the same time: those who ask while a search runs share the next one, so that
 * each gets an answer that was looked up after the question.
 */
export class MarkedSearch {
  #running: Promise<unknown> | undefined;
  #next: Promise<readonly (ProcessInfo & Marker)[]> | undefined;

  find(): Promise<readonly (ProcessInfo & Marker)[]> {
    this.#next ??= this.#search();
    return this.#next;
  }

  async #search(): Promise<readonly (ProcessInfo & Marker)[]> {
    await this.#running?.catch(() => {});
    const search = findMarked();
    this.#running = search;
    this.#next = undefined;
    return search;
  }
}
