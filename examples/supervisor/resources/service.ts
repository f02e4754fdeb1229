import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

import { command, environment, list, milliseconds, name, text } from "./fields.ts";

const signals = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL"] as const;

/** A process that should run. */
export const Service = defineResource({
  type: "Services.supervisor.example.dev",
  spec: z.strictObject({
    command,
    /** Added to the supervisor's own environment. */
    env: environment.default({}),
    /** Relative to the folder of manifests. */
    cwd: text.default("."),
    /** Services that must be ready before this one starts, and that stop after it. */
    dependsOn: list(name).default([]),
    /** When a process that ended by itself is started again. `on-failure`: unless it exited with code 0. */
    restart: z.enum(["always", "on-failure", "never"]).default("always"),
    /** Restart this one too when a service that it depends on restarts because of a change. */
    restartWithDependencies: z.boolean().default(false),
    stopSignal: z.enum(signals).default("SIGTERM"),
    /** What the process group gets to end after the stop signal, before SIGKILL. */
    stopGraceMs: milliseconds.default(10_000),
    /** A service that keeps failing waits `initialMs`, then twice as long each time, up to `maxMs`. */
    backoff: z
      .strictObject({
        initialMs: milliseconds.default(100),
        maxMs: milliseconds.default(10_000),
        /** A process that ran for this long starts the waits from `initialMs` again. */
        stableMs: milliseconds.default(10_000),
      })
      .prefault({}),
    /** Where output is kept: one file of at most `maxBytes`, and `maxFiles` older ones. */
    log: z
      .strictObject({
        maxBytes: z.number().int().min(1024).default(5_000_000),
        maxFiles: z.number().int().min(0).max(100).default(3),
      })
      .prefault({}),
  }),
  columns: { Command: "$.command", Restart: "$.restart", DependsOn: "$.dependsOn" },
});
export type ServiceSpec = SpecOf<typeof Service>;

/** A new value of an annotation with this end restarts the service, as `kubectl rollout restart` does. */
export const RESTART_ANNOTATION = "/restartedAt";
