import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { writeAtomically } from "./write-atomically.ts";

/** What is left on disk of a process, for a supervisor that finds it after the death of the one that started it. */
export interface ProcessRecord {
  readonly service: string;
  /** Also the id of its process group. */
  readonly pid: number;
  readonly birth: string;
  readonly token: string;
  readonly dependsOn: readonly string[];
  readonly stopSignal: string;
  readonly stopGraceMs: number;
}

/** The records of all processes that a supervisor started, one file a service. The folder must exist. */
export class ProcessRecords {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async write(record: ProcessRecord): Promise<void> {
    await writeAtomically(this.#path(record.service), JSON.stringify(record));
  }

  async remove(service: string): Promise<void> {
    await rm(this.#path(service), { force: true });
  }

  async list(): Promise<ProcessRecord[]> {
    const records: ProcessRecord[] = [];
    for (const file of await readdir(this.folder)) {
      // A write that was cut short. Nobody else writes here: the folder is locked.
      if (file.endsWith(".tmp")) await rm(join(this.folder, file), { force: true });
      if (!file.endsWith(".json")) continue;
      const record = parseRecord(await readFile(join(this.folder, file), "utf8"));
      // Records are written whole, so a broken one was cut short by a crash of the machine, which no process survived.
      if (record === undefined) await rm(join(this.folder, file), { force: true });
      else records.push(record);
    }
    return records;
  }

  #path(service: string): string {
    return join(this.folder, `${service}.json`);
  }
}

function parseRecord(content: string): ProcessRecord | undefined {
  try {
    const value = JSON.parse(content) as Partial<ProcessRecord>;
    if (
      typeof value.service === "string" &&
      typeof value.pid === "number" &&
      typeof value.birth === "string" &&
      typeof value.token === "string" &&
      Array.isArray(value.dependsOn) &&
      typeof value.stopSignal === "string" &&
      typeof value.stopGraceMs === "number"
    ) {
      return value as ProcessRecord;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}
