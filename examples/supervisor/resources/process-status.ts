import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** How a process ended. */
export interface ExitSpec {
  /** Exit code; absent when a signal ended it or it never started. */
  code?: number | undefined;
  signal?: string | undefined;
  /** Why it never started. */
  error?: string | undefined;
  /** The line of its last output that most likely says why, if any. */
  lastLine?: string | undefined;
  /** RFC 3339. */
  at: string;
  /** How long it ran. */
  ranMs: number;
  /** It was asked to stop. */
  requested: boolean;
}

/**
 * What the operating system says. `idle`: nothing was started for this run. `exited` means that no process of the group
 * is left.
 */
export type ProcessPhase = "idle" | "starting" | "running" | "stopping" | "exited";

/** The process of a service as it is. Same id as the service. */
export interface ProcessStatusSpec {
  /** The run that this tells of. */
  run: number;
  phase: ProcessPhase;
  pid?: number | undefined;
  /** RFC 3339. */
  startedAt?: string | undefined;
  exit?: ExitSpec | undefined;
  logPath?: string | undefined;
  /** Why output cannot be kept at present; the process goes on. */
  logError?: string | undefined;
  /** Why the process may not be found by a supervisor that comes after a crash of this one. */
  recordError?: string | undefined;
}

const exit = z.strictObject({
  code: z.number().optional(),
  signal: z.string().optional(),
  error: z.string().optional(),
  lastLine: z.string().optional(),
  at: z.string(),
  ranMs: z.number(),
  requested: z.boolean(),
}) satisfies z.ZodType<ExitSpec>;

/** Schema of {@link ExitSpec}. */
export const exitSchema: z.ZodType<ExitSpec> = exit;

const spec = z.strictObject({
  run: z.number(),
  phase: z.enum(["idle", "starting", "running", "stopping", "exited"]),
  pid: z.number().optional(),
  startedAt: z.string().optional(),
  exit: exit.optional(),
  logPath: z.string().optional(),
  logError: z.string().optional(),
  recordError: z.string().optional(),
}) satisfies z.ZodType<ProcessStatusSpec>;

export const ProcessStatus: ResourceType<ProcessStatusSpec, "ProcessStatuses.supervisor.example.dev"> = defineResource({
  type: "ProcessStatuses.supervisor.example.dev",
  spec,
  columns: { Phase: "$.phase", Pid: "$.pid" },
});
