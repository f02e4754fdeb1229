import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** What the health controller found out. Same id as the check. */
export interface HealthStatusSpec {
  service: string;
  /** The run of the service that was asked; an answer of an older run counts for nothing. */
  run: number;
  health: "unknown" | "healthy" | "unhealthy";
  /** Good answers in a row, up to the threshold. */
  successes: number;
  /** Bad answers in a row, up to the threshold. */
  failures: number;
  /** The last bad answer; empty when the last one was good. */
  message: string;
  /** An unhealthy service should restart. */
  restart: boolean;
}

const spec = z.strictObject({
  service: z.string(),
  run: z.number(),
  health: z.enum(["unknown", "healthy", "unhealthy"]),
  successes: z.number(),
  failures: z.number(),
  message: z.string(),
  restart: z.boolean(),
}) satisfies z.ZodType<HealthStatusSpec>;

export const HealthStatus: ResourceType<HealthStatusSpec, "HealthStatuses.supervisor.example.dev"> = defineResource({
  type: "HealthStatuses.supervisor.example.dev",
  spec,
  columns: { Service: "$.service", Health: "$.health", Message: "$.message" },
});
