import type { AdapterParts, DeclaredClassic, DeclaredQueue } from "../adapter.ts";
import { Access } from "./access.ts";
import { ControllerCore } from "./controller-core.ts";
import { ControllerFacade } from "./controller-facade.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import { PendingCalls } from "../pending-calls.ts";
import type { OutputTracker } from "./output-tracker.ts";
import { OwnWrites } from "../cache/own-writes.ts";
import { RateLimiter } from "../rate-limiter.ts";
import type { Logger } from "../../log/index.ts";

/** The state as one controller sees it, from all that it is made of. */
export function openFacade(
  parts: AdapterParts,
  { name, inputs, outputs }: DeclaredClassic | DeclaredQueue,
  metrics: ControllerMetrics,
  log: Logger,
  signal: AbortSignal,
  tracker?: OutputTracker,
): ReturnType<typeof ControllerFacade.open> & {
  readonly calls: PendingCalls;
  readonly finalizers: ReadonlySet<string>;
} {
  const ownWrites = new OwnWrites();
  const calls = new PendingCalls();
  const finalizers = new Set([name]);
  const facade = ControllerFacade.open({
    name,
    core: new ControllerCore(parts.core, metrics, parts.lagging, ownWrites, calls, parts.writes, name),
    clock: parts.clock,
    access: new Access(name, inputs, outputs),
    caches: parts.caches,
    ownWrites,
    unsteady: parts.unsteady,
    calls,
    limiter: parts.changeRateLimit && new RateLimiter(parts.changeRateLimit, parts.clock),
    tracker,
    finalizers,
    signal,
    warnings: parts.warnOnUncachedReads ? log : undefined,
  });
  return { ...facade, calls, finalizers };
}
