import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

/** One run of a service, as it should be: written by the service controller, made true by the process controller. */
export const Process = defineResource({
  type: "Processes.supervisor.example.dev",
  spec: z.strictObject({
    /** Counts the runs of the service. A higher number is a new process; the old one ends first. */
    run: z.number().int(),
    wanted: z.enum(["running", "stopped"]),
    command: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    cwd: z.string(),
    dependsOn: z.array(z.string()),
    stopSignal: z.string(),
    stopGraceMs: z.number(),
    log: z.strictObject({ maxBytes: z.number(), maxFiles: z.number() }),
    /** Digest of what the process was started from; another one means a restart. */
    fingerprint: z.string(),
    /** The restart that was asked for last when the run was started; empty for none. */
    restartedAt: z.string(),
    /** Content of each config file that the run was started with, by name of its resource. */
    configs: z.record(z.string(), z.string()),
    /** Generation of the service when the run was started. */
    generation: z.number(),
    /** Generations of the services that it depends on, when it restarts together with them. */
    generations: z.record(z.string(), z.number()),
    /** Why it is to stop: a change asks for another run, its health does, or the service goes. Empty while it is wanted. */
    stopCause: z.enum(["", "change", "unhealthy", "removal"]),
    /** The same for people. */
    stopReason: z.string(),
    /** Why it was started, for people: what ended the run before. Empty for the first. */
    startReason: z.string(),
  }),
  columns: { Run: "$.run", Wanted: "$.wanted" },
});
export type ProcessSpec = SpecOf<typeof Process>;

/** How a process ended. */
export const exit = z.strictObject({
  /** Exit code; absent when a signal ended it or it never started. */
  code: z.number().optional(),
  signal: z.string().optional(),
  /** Why it never started. */
  error: z.string().optional(),
  /** The line of its last output that most likely says why, if any. */
  lastLine: z.string().optional(),
  /** RFC 3339. */
  at: z.string(),
  /** How long it ran. */
  ranMs: z.number(),
  /** It was asked to stop. */
  requested: z.boolean(),
});
export type ExitSpec = z.infer<typeof exit>;

/** The process of a service as it is. Same id as the service. */
export const ProcessStatus = defineResource({
  type: "ProcessStatuses.supervisor.example.dev",
  spec: z.strictObject({
    /** The run that this is about. */
    run: z.number(),
    /** `idle`: nothing was started for this run. `exited`: no process of it is left. */
    phase: z.enum(["idle", "starting", "running", "stopping", "exited"]),
    pid: z.number().optional(),
    /** RFC 3339. */
    startedAt: z.string().optional(),
    exit: exit.optional(),
    logPath: z.string(),
    /** Processes that it left behind when it ended; they are being stopped. */
    leftBehind: z.array(z.number()).optional(),
    /** What the system refuses to the process, which runs all the same: to keep its output, or to find it again. */
    warning: z.string().optional(),
  }),
  columns: { Phase: "$.phase", Pid: "$.pid", Log: "$.logPath" },
});
export type ProcessStatusSpec = SpecOf<typeof ProcessStatus>;
