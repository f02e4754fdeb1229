import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

import { milliseconds, name, text } from "./fields.ts";

/** How health is found out. Texts may hold placeholders: see `template.ts`. */
export interface Probe {
  /** A GET of this URL must answer with a status from 200 to 399. */
  http?: string | undefined;
  /** `host:port` must accept a connection. */
  tcp?: string | undefined;
  /** This program must exit with 0. It runs with the service's environment, in its folder. */
  command?: string[] | undefined;
}

/** A question that is asked of a running service again and again. A service with checks is ready when all are healthy. */
export interface HealthCheckSpec extends Probe {
  service: string;
  intervalMs: number;
  timeoutMs: number;
  /** Good answers in a row that make it healthy. */
  successThreshold: number;
  /** Bad answers in a row that make it unhealthy. */
  failureThreshold: number;
  /** Wait after the start of the process, before the first question. */
  initialDelayMs: number;
  /** Bad answers do not count for this long after the start, until the first good one. */
  startPeriodMs: number;
  /** What happens to an unhealthy service. Default: it is restarted. */
  onUnhealthy: "restart" | "report";
}

const spec = z
  .strictObject({
    service: name,
    http: text.optional(),
    tcp: text.optional(),
    command: z.array(text).min(1).max(1000).optional(),
    intervalMs: milliseconds.min(10).default(5_000),
    timeoutMs: milliseconds.min(1).default(2_000),
    successThreshold: z.number().int().min(1).max(1000).default(1),
    failureThreshold: z.number().int().min(1).max(1000).default(3),
    initialDelayMs: milliseconds.default(0),
    startPeriodMs: milliseconds.default(30_000),
    onUnhealthy: z.enum(["restart", "report"]).default("restart"),
  })
  .refine(
    ({ http, tcp, command }) => [http, tcp, command].filter((one) => one !== undefined).length === 1,
    "must have exactly one of http, tcp and command",
  ) satisfies z.ZodType<HealthCheckSpec>;

/** {@link HealthCheckSpec} as a person writes it. */
export interface HealthCheckInput extends Partial<HealthCheckSpec> {
  service: string;
}

export const HealthCheck: ResourceType<HealthCheckSpec, "HealthChecks.supervisor.example.dev", HealthCheckInput> =
  defineResource({
    type: "HealthChecks.supervisor.example.dev",
    spec,
    aliases: ["check"],
    columns: { Service: "$.service", Interval: "$.intervalMs" },
  });
