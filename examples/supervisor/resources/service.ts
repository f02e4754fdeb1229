import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

import { environment, milliseconds, name, text } from "./fields.ts";

/** When a process that ended by itself is started again. `on-failure`: unless it exited with code 0. */
export type RestartPolicy = "always" | "on-failure" | "never";

/** How long a service that keeps failing waits: `initialMs`, then twice as long each time, up to `maxMs`. */
export interface BackoffSpec {
  initialMs: number;
  maxMs: number;
  /** A process that ran for this long starts the waits from `initialMs` again. */
  stableMs: number;
}

/** Where output is kept: one file of at most `maxBytes`, and `maxFiles` older ones. */
export interface LogSpec {
  maxBytes: number;
  maxFiles: number;
}

/** A process that should run. */
export interface ServiceSpec {
  /** The program and its arguments; no shell is involved. */
  command: string[];
  /** Added to the supervisor's own environment. */
  env: Record<string, string>;
  /** Relative to the folder of manifests. */
  cwd: string;
  /** Services that must be ready before this one starts, and that stop after it. */
  dependsOn: string[];
  restart: RestartPolicy;
  /** Restart this one too when a service that it depends on restarts because of a change. */
  restartWithDependencies: boolean;
  stopSignal: string;
  /** What the process group gets to end after the stop signal, before SIGKILL. */
  stopGraceMs: number;
  backoff: BackoffSpec;
  log: LogSpec;
}

const signals = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL"] as const;

const spec = z.strictObject({
  command: z.array(text).min(1).max(1000),
  env: environment.default({}),
  cwd: text.default("."),
  dependsOn: z.array(name).max(1000).default([]),
  restart: z.enum(["always", "on-failure", "never"]).default("always"),
  restartWithDependencies: z.boolean().default(false),
  stopSignal: z.enum(signals).default("SIGTERM"),
  stopGraceMs: milliseconds.default(10_000),
  backoff: z
    .strictObject({
      initialMs: milliseconds.default(100),
      maxMs: milliseconds.default(10_000),
      stableMs: milliseconds.default(10_000),
    })
    .prefault({}),
  log: z
    .strictObject({
      maxBytes: z.number().int().min(1024).default(5_000_000),
      maxFiles: z.number().int().min(0).max(100).default(3),
    })
    .prefault({}),
}) satisfies z.ZodType<ServiceSpec>;

type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** {@link ServiceSpec} as a person writes it. */
export interface ServiceInput extends Optional<
  Omit<ServiceSpec, "command" | "backoff" | "log" | "stopSignal" | "env">
> {
  command: string[];
  env?: Record<string, string | number | boolean> | undefined;
  stopSignal?: (typeof signals)[number] | undefined;
  backoff?: Optional<BackoffSpec> | undefined;
  log?: Optional<LogSpec> | undefined;
}

export const Service: ResourceType<ServiceSpec, "Services.supervisor.example.dev", ServiceInput> = defineResource({
  type: "Services.supervisor.example.dev",
  spec,
  aliases: ["svc"],
  columns: { Command: "$.command", Restart: "$.restart", DependsOn: "$.dependsOn" },
});
