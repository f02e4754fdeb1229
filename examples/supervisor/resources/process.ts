import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

import type { LogSpec } from "./service.ts";

/** A change asks for another run, its health does, or the service goes. */
export type StopCause = "change" | "unhealthy" | "removal";

/** One run of a service, as it should be: written by the service controller, made true by the process controller. */
export interface ProcessSpec {
  /** Counts the runs of the service. A higher number is a new process; the old one ends first. */
  run: number;
  wanted: "running" | "stopped";
  command: string[];
  env: Record<string, string>;
  cwd: string;
  dependsOn: string[];
  stopSignal: string;
  stopGraceMs: number;
  log: LogSpec;
  /** Digest of what the process was started from; another one means a restart. */
  fingerprint: string;
  /** Content of each config file that the run was started with, by name of its resource. */
  configs: Record<string, string>;
  /** Generation of the service when the run was started. */
  generation: number;
  /** Generations of the services that it depends on, when it restarts together with them. */
  generations: Record<string, number>;
  /** Why it is to stop; empty as long as it is wanted. */
  stopCause: StopCause | "";
  /** The same for people. */
  stopReason: string;
  /** Why it was started, for people: what ended the run before. Empty for the first. */
  startReason: string;
}

const spec = z.strictObject({
  run: z.number().int(),
  wanted: z.enum(["running", "stopped"]),
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  dependsOn: z.array(z.string()),
  stopSignal: z.string(),
  stopGraceMs: z.number(),
  log: z.strictObject({ maxBytes: z.number(), maxFiles: z.number() }),
  fingerprint: z.string(),
  configs: z.record(z.string(), z.string()),
  generation: z.number(),
  generations: z.record(z.string(), z.number()),
  stopCause: z.enum(["", "change", "unhealthy", "removal"]),
  stopReason: z.string(),
  startReason: z.string(),
}) satisfies z.ZodType<ProcessSpec>;

export const Process: ResourceType<ProcessSpec, "Processes.supervisor.example.dev"> = defineResource({
  type: "Processes.supervisor.example.dev",
  spec,
  columns: { Run: "$.run", Wanted: "$.wanted" },
});
