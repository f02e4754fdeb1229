import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

import { command, milliseconds, name, text } from "./fields.ts";

/** A question that is asked of a running service again and again. A service with checks is ready when all are healthy. */
export const HealthCheck = defineResource({
  type: "HealthChecks.supervisor.example.dev",
  spec: z
    .strictObject({
      service: name,
      // One of these three. They may hold placeholders: see `template.ts`.
      /** A GET of this URL must answer with a status from 200 to 399. */
      http: text.optional(),
      /** `host:port` must accept a connection. */
      tcp: text.optional(),
      /** This program must exit with 0. It runs with the service's environment, in its folder. */
      command: command.optional(),
      intervalMs: milliseconds.min(10).default(5_000),
      timeoutMs: milliseconds.min(1).default(2_000),
      /** Good answers in a row that make it healthy. */
      successThreshold: z.number().int().min(1).max(1000).default(1),
      /** Bad answers in a row that make it unhealthy. */
      failureThreshold: z.number().int().min(1).max(1000).default(3),
      /** Wait after the start of the process, before the first question. */
      initialDelayMs: milliseconds.default(0),
      /** Bad answers do not count for this long after the start, until the first good one. */
      startPeriodMs: milliseconds.default(30_000),
      /** What happens to an unhealthy service. */
      onUnhealthy: z.enum(["restart", "report"]).default("restart"),
    })
    .refine(
      ({ http, tcp, command: program }) => [http, tcp, program].filter((one) => one !== undefined).length === 1,
      "must have exactly one of http, tcp and command",
    ),
  aliases: ["check"],
  columns: { Service: "$.service", Interval: "$.intervalMs" },
});
export type HealthCheckSpec = SpecOf<typeof HealthCheck>;

/** What the health controller found out. Same id as the check. */
export const HealthStatus = defineResource({
  type: "HealthStatuses.supervisor.example.dev",
  spec: z.strictObject({
    service: z.string(),
    /** The run of the service that was asked; an answer of an older run counts for nothing. */
    run: z.number(),
    /** `unknown` as long as there are not enough answers, and when the check could not be run. */
    health: z.enum(["unknown", "healthy", "unhealthy"]),
    /** Good answers in a row, up to the threshold. */
    successes: z.number(),
    /** Bad answers in a row, up to the threshold. */
    failures: z.number(),
    /** The last bad answer, or why the check could not be run; empty when the last one was good. */
    message: z.string(),
  }),
  columns: { Service: "$.service", Health: "$.health", Message: "$.message" },
});
export type HealthStatusSpec = SpecOf<typeof HealthStatus>;
