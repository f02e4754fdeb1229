import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { writeAtomically } from "./write-atomically.ts";

/** What is left on disk of a process, for a supervisor that finds it after the death of the one that started it. */
const recordSchema = z.object({
  service: z.string(),
  /** Also the id of its process group. */
  pid: z.number(),
  birth: z.string(),
  /** {@link Mark.number} in decimal digits. */
  mark: z.string(),
  dependsOn: z.array(z.string()),
  stopSignal: z.string(),
  stopGraceMs: z.number(),
});
export type ProcessRecord = z.infer<typeof recordSchema>;

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
      const path = join(this.folder, file);
      const record = file.endsWith(".json") ? parseRecord(await readFile(path, "utf8")) : undefined;
      // Records are written whole: what is none was cut short by a crash of the machine, which no process survived.
      if (record === undefined) await rm(path, { force: true });
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
    return recordSchema.safeParse(JSON.parse(content)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
