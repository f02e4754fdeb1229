import { SystemClock, type Clock } from "../clock/index.ts";
import type { Controller, QueueController } from "../controller/index.ts";
import { type Logger, consoleLogger } from "../log/index.ts";
import { kindOf, type Kind } from "../resource/index.ts";
import { ControllerMetrics, MetricsRegistry } from "./metrics/metrics.ts";
import { checkRateLimit, type RateLimit } from "./rate-limiter.ts";

/** Options of a {@link Runtime}; each has a default. */
export interface RuntimeOptions {
  /** Controllers to register at once, as {@link Runtime.register} does. Default: none. */
  readonly controllers?: readonly (Controller | QueueController)[] | undefined;
  /** Kinds whose reads are served from memory. They are watched even if no controller uses them. Default: none. */
  readonly cache?: readonly Kind[] | undefined;
  /** Default: {@link consoleLogger}, to standard error. */
  readonly logger?: Logger | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Spreads the intervals between retries: numbers from 0 up to, but not including, 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /**
   * False counts nothing for controllers. A registry collects the numbers of several runtimes. Default: true, a
   * registry of its own.
   */
  readonly metrics?: boolean | MetricsRegistry | undefined;
  /** Limits the writes of each controller. Default: unlimited. */
  readonly changeRateLimit?: RateLimit | undefined;
  /** Logs a warning for each read that goes to the backing state. Default: false. */
  readonly warnOnUncachedReads?: boolean | undefined;
  /**
   * Time for everything to end after the stop; then `run` rejects with a {@link StopTimeoutError} that names what has
   * not. May be `Infinity`. Unit: milliseconds. Default: 10 s.
   */
  readonly shutdownGraceMs?: number | undefined;
  /** Reconciles that may start in one turn of the event loop, before timers and I/O get theirs. Default: 500. */
  readonly yieldEvery?: number | undefined;
}

/** Options of `Runtime.run`. */
export interface RunOptions {
  /** Stops the runtime. */
  readonly signal?: AbortSignal | undefined;
}

/** {@link RuntimeOptions} with every default filled in. */
export interface ResolvedRuntimeOptions {
  readonly controllers: readonly (Controller | QueueController)[];
  readonly cache: readonly Kind[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly metrics: MetricsRegistry;
  readonly metricsOf: (controller: string) => ControllerMetrics;
  readonly changeRateLimit: RateLimit | undefined;
  readonly warnOnUncachedReads: boolean;
  readonly shutdownGraceMs: number;
  readonly yieldEvery: number;
}

/** @throws {RangeError} for a number out of its range. */
export function resolveRuntimeOptions(options: RuntimeOptions): ResolvedRuntimeOptions {
  const { shutdownGraceMs = 10_000, yieldEvery = 500, metrics = true, changeRateLimit } = options;
  if (!(shutdownGraceMs >= 0)) {
    throw new RangeError(`shutdownGraceMs must be a number of milliseconds, at least 0, got ${shutdownGraceMs}`);
  }
  if (!(Number.isSafeInteger(yieldEvery) && yieldEvery >= 1)) {
    throw new RangeError(`yieldEvery must be a whole number of at least 1, got ${yieldEvery}`);
  }
  if (changeRateLimit !== undefined) checkRateLimit(changeRateLimit);
  const clock = options.clock ?? new SystemClock();
  const registry = metrics instanceof MetricsRegistry ? metrics : new MetricsRegistry();
  return {
    controllers: [...(options.controllers ?? [])],
    cache: (options.cache ?? []).map(kindOf),
    logger: (options.logger ?? consoleLogger({ now: () => clock.now() })).child({ component: "controller-runtime" }),
    clock,
    random: options.random ?? Math.random,
    metrics: registry,
    metricsOf: metrics === false ? () => new ControllerMetrics() : (name) => registry.controller(name),
    changeRateLimit: changeRateLimit && { ...changeRateLimit },
    warnOnUncachedReads: options.warnOnUncachedReads ?? false,
    shutdownGraceMs,
    yieldEvery,
  };
}
