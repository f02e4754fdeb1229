import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

import { exit } from "./process.ts";

/** What the service controller says of a service. Same id as the service. */
export const ServiceStatus = defineResource({
  type: "ServiceStatuses.supervisor.example.dev",
  spec: z.strictObject({
    /**
     * `waiting`: for something else; `blocked`: by a mistake in the manifests; `starting`: runs, not ready yet;
     * `running`: runs and is ready, or was; `backoff`: failed, starts again later; `done`: ended, and its policy wants
     * no restart; `failed`: likewise, but not with success.
     */
    state: z.enum(["waiting", "blocked", "starting", "running", "stopping", "backoff", "done", "failed"]),
    /** Those that depend on it may start. */
    ready: z.boolean(),
    /** It, or something that it depends on, is being removed: those that depend on it stop before it does. */
    leaving: z.boolean(),
    pid: z.number().optional(),
    health: z.enum(["none", "unknown", "healthy", "unhealthy"]),
    /** RFC 3339: the last change of `state`. */
    since: z.string(),
    /** Starts after the first one, since the service was declared. */
    restarts: z.number(),
    /** Failures in a row: how long the next wait is. */
    failures: z.number(),
    /** Number of the present or last run. */
    run: z.number(),
    /** The last run whose end was counted among the failures, or found to be none. */
    countedRun: z.number(),
    /** Counts restarts that a change asked for. Those that restart with their dependencies follow it. */
    generation: z.number(),
    dependsOn: z.array(z.string()),
    /** What a person should know: what it waits for, why it stopped. Empty when all is well. */
    reason: z.string(),
    /** Why the present or last run was started: what ended the one before. Empty for the first. */
    startReason: z.string(),
    lastExit: exit.optional(),
    /** Where its output is kept; absent before the first start. */
    logPath: z.string().optional(),
  }),
  aliases: ["status", "svc"],
  columns: { State: "$.state", Pid: "$.pid", Restarts: "$.restarts", Health: "$.health", Reason: "$.reason" },
});
export type ServiceStatusSpec = SpecOf<typeof ServiceStatus>;
