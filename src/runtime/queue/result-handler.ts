import { silentLogger, type Logger } from "../../log/index.ts";
import type { ReconcileResult } from "../../controller/index.ts";
import { Backoff, type Clock } from "../../clock/index.ts";
import { formatPointer, type Metadata } from "../../resource/index.ts";
import type { ItemOwner } from "./dispatcher.ts";
import type { ItemQueue } from "./item-queue.ts";
import { DONE, classifyResult, classifyThrown, type Verdict } from "../explain/classify-outcome.ts";
import type { Failure } from "../explain/controller-status.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import type { Job, QueueItem } from "./queue-worker.ts";

export interface ItemSettlementInit {
  readonly name: string;
  readonly queue: ItemQueue<readonly Metadata[], Job>;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Takes what no handler threw. */
  readonly onBroken: (error: unknown) => void;
}

/** What follows when a run of a queue item has ended: it is classified, counted, noted, logged, and released or put again. */
export class ResultHandler implements ItemOwner {
  readonly #name: string;
  readonly #queue: ItemQueue<readonly Metadata[], Job>;
  readonly #metrics: ControllerMetrics;
  readonly #log: Logger;
  /** True when the log is not read: lines that come with every run are not even made. */
  readonly #quiet: boolean;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #signal: AbortSignal;
  readonly broke: (error: unknown) => void;
  /** Of any key, also when all went well since. */
  lastFailure: Failure | undefined;

  constructor(init: ItemSettlementInit) {
    this.#name = init.name;
    this.#queue = init.queue;
    this.#metrics = init.metrics;
    this.#log = init.log;
    this.#quiet = init.log === silentLogger;
    this.#clock = init.clock;
    this.#random = init.random;
    this.#signal = init.signal;
    this.broke = init.onBroken;
  }

  settle(
    item: QueueItem,
    result: ReconcileResult,
    failure: { readonly thrown: unknown } | undefined,
    startedAtMs: number,
    nowMs: number,
  ): void {
    const { job } = item.kindQueue;
    const tookMs = nowMs - startedAtMs;
    if (job.name === "reconcile") this.#metrics.reconcileBusySeconds += tookMs / 1000;
    else this.#metrics.mapBusySeconds += tookMs / 1000;
    const verdict = this.#classify(item, result, failure);
    this.#count(verdict);
    const afterMs = this.#delayAfter(verdict, item);
    if (afterMs === undefined) this.#queue.release(item, nowMs);
    else this.#queue.requeue(item, nowMs + afterMs, nowMs);
    this.#note(item, verdict, afterMs, tookMs);
    if (!this.#quiet || verdict.kind === "failed") this.#report(item, verdict, afterMs, tookMs);
  }

  looked(): void {
    this.#metrics.queueLength = this.#queue.length;
  }

  #classify(
    { kindQueue, id }: QueueItem,
    result: ReconcileResult,
    failure: { readonly thrown: unknown } | undefined,
  ): Verdict {
    // Most handlers return nothing: then no text is made either.
    if (failure === undefined && result === undefined) return DONE;
    const { input, name } = kindQueue.job;
    const handler = `${name} of ${formatPointer({ ...input, id })} in controller ${JSON.stringify(this.#name)}`;
    return failure === undefined
      ? classifyResult(result, handler)
      : classifyThrown(failure.thrown, handler, this.#signal);
  }

  #count({ kind }: Verdict): void {
    switch (kind) {
      case "done":
        break;
      case "requeued":
        this.#metrics.itemRequeues++;
        break;
      case "skipped":
        this.#metrics.itemSkips++;
        break;
      case "failed":
        this.#metrics.itemCrashes++;
        break;
    }
  }

  /** Keeps up the item's backoff. Gives the time until it is due again, if it is. */
  #delayAfter(verdict: Verdict, item: QueueItem): number | undefined {
    if (verdict.clearsBackoff) {
      item.failures = undefined;
      return verdict.afterMs;
    }
    const failures = (item.failures ??= { backoff: new Backoff(this.#random), failure: undefined });
    failures.failure = verdict.error;
    return verdict.afterMs ?? failures.backoff.next();
  }

  #note({ kindQueue, id }: QueueItem, verdict: Verdict, afterMs: number | undefined, tookMs: number): void {
    const { outcomes } = kindQueue.job;
    const { kind, error, reason = error?.message } = verdict;
    if (kind === "done") outcomes.succeeded(id, this.#clock.now(), tookMs);
    else outcomes.add(id, { kind, atMs: this.#clock.now(), tookMs, reason, againAfterMs: afterMs });
    if (kind === "failed") this.lastFailure = { message: reason ?? "it gave no reason", atMs: this.#clock.now(), id };
  }

  #report({ kindQueue, id }: QueueItem, verdict: Verdict, afterMs: number | undefined, tookMs: number): void {
    const { name, input } = kindQueue.job;
    const { namespace, type } = input;
    const fields = {
      namespace,
      type,
      id,
      job: name,
      busyMs: Math.round(tookMs * 1000) / 1000,
      ...(afterMs !== undefined && { intervalMs: afterMs }),
      ...(verdict.error !== undefined && { error: verdict.error, requeued: verdict.afterMs !== undefined }),
      ...(verdict.reason !== undefined && { reason: verdict.reason }),
    };
    if (verdict.kind === "failed") {
      this.#log.error(`${name} failed`, fields);
      return;
    }
    const message = `${name} ${verdict.kind === "skipped" ? "skipped" : "succeeded"}`;
    if (name === "reconcile") this.#log.info(message, fields);
    else this.#log.debug(message, fields);
  }
}
