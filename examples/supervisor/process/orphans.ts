import { MarkedSearch } from "./mark.ts";
import { groupMembers, inspectProcess, type ProcessInfo } from "./processes.ts";
import type { ProcessRecord, ProcessRecords } from "./process-records.ts";
import { stopProcesses } from "./stop-processes.ts";

/** What was found of a service that another supervisor had started. */
export interface Orphan {
  readonly service: string;
  readonly pids: readonly number[];
}

export interface OrphanOptions {
  /** Called for each service before it is asked to stop. */
  readonly onFound: (orphan: Orphan) => void;
  /** Called for processes that may be orphans or somebody else's: they are left alone. */
  readonly onUncertain: (orphan: Orphan) => void;
  /** When it aborts, they are killed without any more waiting. */
  readonly force?: AbortSignal | undefined;
}

/** For a process without a record, as when the disk was full. */
const DEFAULT_POLICY = { stopSignal: "SIGTERM", stopGraceMs: 10_000 } as const;

/**
 * Stops what a supervisor that died left running, a service after those that depend on it, and resolves when nothing
 * is left.
 *
 * Orphans are stopped, not adopted: their output went to the supervisor that died, so the next line that they write
 * would be lost, or end them. A process is touched only when its birth or its mark proves that it is one of ours.
 */
export async function stopOrphans(records: ProcessRecords, options: OrphanOptions): Promise<void> {
  const written = new Map((await records.list()).map((record) => [record.service, record]));
  const search = new MarkedSearch(records.folder);
  const found = await findOrphans(search, written, options.onUncertain);
  const services = new Set([...written.keys(), ...found.map((one) => one.service)]);

  const stops = new Map<string, Promise<void>>();
  const stop = (service: string, before: readonly string[]): Promise<void> => {
    const known = stops.get(service);
    if (known !== undefined) return known;
    // What depends on it goes first; a cycle is cut where it closes.
    const dependants = [...written.values()]
      .filter((one) => one.dependsOn.includes(service) && !before.includes(one.service) && one.service !== service)
      .map((one) => stop(one.service, [...before, service]));
    const stopped = Promise.all(dependants).then(() =>
      stopService(service, records, () => findOrphans(search, written), written.get(service), options),
    );
    stops.set(service, stopped);
    return stopped;
  };
  await Promise.all(Array.from(services, (service) => stop(service, [])));
}

async function stopService(
  service: string,
  records: ProcessRecords,
  findAll: () => ReturnType<typeof findOrphans>,
  { stopSignal, stopGraceMs }: Pick<ProcessRecord, "stopSignal" | "stopGraceMs"> = DEFAULT_POLICY,
  { onFound, force }: OrphanOptions,
): Promise<void> {
  const find = async () => (await findAll()).flatMap((one) => (one.service === service ? [one.pid] : []));
  const pids = await find();
  if (pids.length > 0) {
    onFound({ service, pids });
    await stopProcesses(find, { stopSignal, graceMs: stopGraceMs, isForced: () => force?.aborted === true });
  }
  await records.remove(service);
}

async function findOrphans(
  search: MarkedSearch,
  written: ReadonlyMap<string, ProcessRecord>,
  onUncertain?: (orphan: Orphan) => void,
): Promise<readonly (ProcessInfo & { readonly service: string })[]> {
  const names = new Map(Array.from(written.values(), ({ mark, service }) => [mark, service]));
  const found = new Map(
    (await search.find()).map((one) => {
      const service = names.get(String(one.number)) ?? one.service ?? `a service with the mark ${one.number}`;
      return [one.pid, { ...one, service }] as const;
    }),
  );
  const unmarked = new Map<number, ProcessInfo & { readonly service: string }>();
  for (const { pid, birth, service } of written.values()) {
    const leads = (await inspectProcess(pid))?.birth === birth;
    const members = (await groupMembers(pid, birth)).filter((one) => !found.has(one.pid));
    // Without its first process, a group of that number may be another one's by now.
    if (leads) for (const one of members) unmarked.set(one.pid, { ...one, service });
    else if (members.length > 0) onUncertain?.({ service, pids: members.map((one) => one.pid) });
  }
  return [...found.values(), ...unmarked.values()];
}
