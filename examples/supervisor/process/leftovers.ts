import { findMarked, type Marker } from "./marker.ts";
import type { ProcessInfo } from "./process-info.ts";
import { inspectProcess } from "./processes.ts";
import type { ProcessRecord, ProcessRecords } from "./process-records.ts";
import { signalProcess } from "./signal.ts";
import { waitUntil } from "./wait-until.ts";

/** What was found of a service that another supervisor had started. */
export interface Leftover {
  readonly service: string;
  readonly pids: readonly number[];
}

export interface LeftoverOptions {
  /** Called for each service before it is asked to stop. */
  readonly onFound: (leftover: Leftover) => void;
  /** Aborting it ends all patience: they are killed. */
  readonly force?: AbortSignal | undefined;
}

/** For a process without a record: the supervisor died between starting it and writing it down. */
const DEFAULT_POLICY = { dependsOn: [], stopSignal: "SIGTERM", stopGraceMs: 10_000 } as const;

/**
 * Stops what a supervisor that died left running, a service after those that depend on it, and resolves when nothing
 * is left.
 *
 * They are stopped, not taken over: their output went to the supervisor that died, so the next line that they write
 * would be lost, or end them. A process is touched only when its birth or its token proves that it is one of ours.
 */
export async function stopLeftovers(records: ProcessRecords, options: LeftoverOptions): Promise<void> {
  const written = new Map((await records.list()).map((record) => [record.service, record]));
  const found = await findLeftovers(records, written);
  const services = new Set([...written.keys(), ...found.map((one) => one.service)]);

  const stops = new Map<string, Promise<void>>();
  const stop = (service: string, before: readonly string[]): Promise<void> => {
    const known = stops.get(service);
    if (known !== undefined) return known;
    // What depends on it goes first; a circle is cut where it closes.
    const dependants = [...written.values()]
      .filter((one) => one.dependsOn.includes(service) && !before.includes(one.service) && one.service !== service)
      .map((one) => stop(one.service, [...before, service]));
    const stopped = Promise.all(dependants).then(() => stopService(service, records, written, options));
    stops.set(service, stopped);
    return stopped;
  };
  await Promise.all(Array.from(services, (service) => stop(service, [])));
}

async function stopService(
  service: string,
  records: ProcessRecords,
  written: ReadonlyMap<string, ProcessRecord>,
  { onFound, force }: LeftoverOptions,
): Promise<void> {
  const { stopSignal, stopGraceMs } = written.get(service) ?? DEFAULT_POLICY;
  const find = async () => (await findLeftovers(records, written)).filter((one) => one.service === service);
  const left = await find();
  if (left.length > 0) {
    onFound({ service, pids: left.map(({ pid }) => pid) });
    for (const { pid } of left) signalProcess(pid, stopSignal as NodeJS.Signals);
    await waitUntil(async () => force?.aborted === true || (await find()).length === 0, stopGraceMs);
    await waitUntil(async () => {
      const survivors = await find();
      for (const { pid } of survivors) signalProcess(pid, "SIGKILL");
      return survivors.length === 0;
    }, Number.POSITIVE_INFINITY);
  }
  await records.remove(service);
}

async function findLeftovers(
  records: ProcessRecords,
  written: ReadonlyMap<string, ProcessRecord>,
): Promise<readonly (ProcessInfo & Pick<Marker, "service">)[]> {
  const marked = (await findMarked()).filter((one) => one.records === records.folder);
  const found = new Map<number, ProcessInfo & Pick<Marker, "service">>(marked.map((one) => [one.pid, one]));
  for (const { pid, birth, service } of written.values()) {
    const info = await inspectProcess(pid);
    if (info?.birth === birth) found.set(pid, { ...info, service });
  }
  return [...found.values()];
}
