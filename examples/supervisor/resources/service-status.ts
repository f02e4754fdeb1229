import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

import { exitSchema, type ExitSpec } from "./process-status.ts";

/**
 * Where a service stands. `waiting`: for something else; `blocked`: by a mistake in the manifests; `starting`: runs, not
 * ready yet; `running`: runs and is ready, or was; `backoff`: failed, starts again later; `done`: ended, and its policy
 * wants no restart; `failed`: likewise, but not with success.
 */
export type ServiceState = "waiting" | "blocked" | "starting" | "running" | "stopping" | "backoff" | "done" | "failed";

export type ServiceHealth = "none" | "unknown" | "healthy" | "unhealthy";

/** What the service controller says of a service. Same id as the service. */
export interface ServiceStatusSpec {
  state: ServiceState;
  /** Those that depend on it may start. */
  ready: boolean;
  /** It, or something that it depends on, is being removed: those that depend on it stop before it does. */
  leaving: boolean;
  pid?: number | undefined;
  health: ServiceHealth;
  /** RFC 3339: the last change of `state`. */
  since: string;
  /** Starts after the first one, since the service was declared. */
  restarts: number;
  /** Failures in a row: how long the next wait is. */
  failures: number;
  /** Number of the present or last run. */
  run: number;
  /** The last run whose end was counted among the failures, or found to be none. */
  countedRun: number;
  /** Counts restarts that a change asked for. Those that restart with their dependencies follow it. */
  generation: number;
  dependsOn: string[];
  /** What a person should know: what it waits for, why it stopped. Empty when all is well. */
  reason: string;
  /** Why the present or last run was started: what ended the one before. Empty for the first. */
  startReason: string;
  lastExit?: ExitSpec | undefined;
}

const spec = z.strictObject({
  state: z.enum(["waiting", "blocked", "starting", "running", "stopping", "backoff", "done", "failed"]),
  ready: z.boolean(),
  leaving: z.boolean(),
  pid: z.number().optional(),
  health: z.enum(["none", "unknown", "healthy", "unhealthy"]),
  since: z.string(),
  restarts: z.number(),
  failures: z.number(),
  run: z.number(),
  countedRun: z.number(),
  generation: z.number(),
  dependsOn: z.array(z.string()),
  reason: z.string(),
  startReason: z.string(),
  lastExit: exitSchema.optional(),
}) satisfies z.ZodType<ServiceStatusSpec>;

export const ServiceStatus: ResourceType<ServiceStatusSpec, "ServiceStatuses.supervisor.example.dev"> = defineResource({
  type: "ServiceStatuses.supervisor.example.dev",
  spec,
  aliases: ["status"],
  columns: { State: "$.state", Pid: "$.pid", Restarts: "$.restarts", Health: "$.health", Reason: "$.reason" },
});
