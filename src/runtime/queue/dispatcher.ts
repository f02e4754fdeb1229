import type { Clock, Timer } from "../../clock/index.ts";
import type { ReconcileResult } from "../../controller/index.ts";
import type { Metadata } from "../../resource/index.ts";
import type { ItemQueue } from "./item-queue.ts";
import { QueueWorker, type Job, type QueueItem, type WorkerHost } from "./queue-worker.ts";
import type { TurnBudget } from "../turn-budget.ts";

/** Whose items they are. */
export interface ItemOwner {
  /** The handler ended: releases or requeues the item. Exactly one of `result` and `failure` counts. */
  settle(
    item: QueueItem,
    result: ReconcileResult,
    failure: { readonly thrown: unknown } | undefined,
    startedAtMs: number,
    nowMs: number,
  ): void;
  /** Called whenever workers have looked for work. */
  looked(): void;
  /** {@link settle} threw: that is no failure of a handler, and it would go unnoticed. */
  broke(error: unknown): void;
}

/**
 * Hands due items to idle workers, within the budget of the turn. *Woken* it looks for work in a microtask; with nothing
 * due it waits for the timer of the next item; out of budget, for the next turn.
 */
export class Dispatcher implements WorkerHost {
  readonly #queue: ItemQueue<readonly Metadata[], Job>;
  readonly #owner: ItemOwner;
  readonly #clock: Clock;
  readonly #budget: TurnBudget;
  readonly #idle: QueueWorker[];
  readonly #workers: readonly QueueWorker[];
  #mode: "new" | "started" | "stopped" = "new";
  #woken = false;
  #pumping = false;
  #resuming = false;
  #timer: Timer | undefined;
  #timerDueAtMs = 0;
  readonly #drained = Promise.withResolvers<void>();

  constructor(
    queue: ItemQueue<readonly Metadata[], Job>,
    owner: ItemOwner,
    concurrency: number,
    clock: Clock,
    budget: TurnBudget,
  ) {
    this.#queue = queue;
    this.#owner = owner;
    this.#clock = clock;
    this.#budget = budget;
    this.#workers = Array.from({ length: concurrency }, () => new QueueWorker(this));
    this.#idle = [...this.#workers];
  }

  start(): void {
    if (this.#mode === "new") this.#mode = "started";
    this.wake();
  }

  /** Starts nothing more. Resolves when no worker is at work. */
  stop(): Promise<void> {
    this.#mode = "stopped";
    this.#timer?.cancel();
    this.#queue.close();
    if (this.#idle.length === this.#workers.length) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** The items that workers are at. */
  processing(): readonly QueueItem[] {
    return this.#workers.flatMap(({ item }) => item ?? []);
  }

  /** Something was put into the queue. */
  wake(): void {
    if (this.#woken || this.#resuming || this.#mode !== "started") return;
    this.#woken = true;
    queueMicrotask(this.#lookWoken);
  }

  ended(worker: QueueWorker, result: ReconcileResult): void {
    this.#settle(worker, result, undefined);
  }

  failed(worker: QueueWorker, thrown: unknown): void {
    this.#settle(worker, undefined, { thrown });
  }

  readonly #lookWoken = (): void => {
    this.#woken = false;
    this.#look(this.#clock.monotonic());
  };

  readonly #lookResumed = (): void => {
    this.#resuming = false;
    this.#look(this.#clock.monotonic());
  };

  #settle(worker: QueueWorker, result: ReconcileResult, failure: { readonly thrown: unknown } | undefined): void {
    const nowMs = this.#clock.monotonic();
    try {
      this.#owner.settle(worker.letGo(), result, failure, worker.startedAtMs, nowMs);
    } catch (error) {
      this.#owner.broke(error);
    }
    this.#idle.push(worker);
    if (this.#mode === "stopped") {
      if (this.#idle.length === this.#workers.length) this.#drained.resolve();
    } else this.#look(nowMs);
  }

  #look(nowMs: number): void {
    if (this.#pumping || this.#resuming || this.#mode !== "started") return;
    this.#pumping = true;
    let now = nowMs;
    while (this.#idle.length > 0 && this.#queue.isDue(now)) {
      if (!this.#budget.take(now)) {
        this.#resuming = true;
        this.#budget.resume(this.#lookResumed);
        break;
      }
      const idleBefore = this.#idle.length;
      const item = this.#queue.take(now);
      const worker = this.#idle.pop();
      if (item === undefined || worker === undefined) break;
      worker.run(item, now);
      // One that ended at once took time all the same.
      if (this.#idle.length === idleBefore) now = this.#clock.monotonic();
    }
    this.#pumping = false;
    this.#owner.looked();
    if (!this.#resuming && this.#idle.length > 0) this.#armTimer(now);
  }

  #armTimer(nowMs: number): void {
    const delayMs = this.#queue.delay(nowMs);
    if (delayMs === undefined || delayMs === 0) return;
    const dueAtMs = nowMs + delayMs;
    if (this.#timer !== undefined) {
      if (this.#timerDueAtMs <= dueAtMs) return;
      this.#timer.cancel();
    }
    this.#timerDueAtMs = dueAtMs;
    // Timers may fire early; then the rest is waited for, at least this long.
    this.#timer = this.#clock.schedule(Math.max(1, delayMs), this.#onTimer);
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    this.#look(this.#clock.monotonic());
  };
}
