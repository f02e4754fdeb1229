import type { Clock } from "../../clock/index.ts";
import { WakeUpCauses, type IsOwn } from "../causes/wake-up-causes.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";

/**
 * Room for one wake-up: however much changes while a controller is busy, it looks once more.
 *
 * The slot is emptied by the controller when it resumes, not when it is woken; so changes of one turn are one wake-up.
 * A controller that finds the slot full when it comes back waits for the next turn of the event loop, so that one which
 * wakes itself for ever starves no other.
 */
export class WakeUpFlag {
  readonly #clock: Pick<Clock, "defer">;
  readonly #metrics: ControllerMetrics;
  #full = false;
  #waiters: (() => void)[] = [];
  #closed = false;
  /** True when a wake-up came since the run began, also one that found the slot full. */
  #news = false;
  /** True when the run took a wake-up. */
  #taken = false;
  readonly #causes = new WakeUpCauses();
  #isOwn = false;
  /** Grows with each run of the controller: waits that a failed run left behind must take nothing from the next. */
  #run = 0;

  constructor(clock: Pick<Clock, "defer">, metrics: ControllerMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  get full(): boolean {
    return this.#full;
  }

  /** True when nothing but the controller's own writes caused the wake-up that was taken last. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /**
   * Fills the slot. Does nothing when it is full.
   *
   * @param isOwn - Whether the controller made the change itself. Default: it did not.
   */
  fill(isOwn?: IsOwn): void {
    this.#causes.add(isOwn);
    this.#news = true;
    if (this.#full || this.#closed) return;
    this.#full = true;
    this.#metrics.wakeups++;
    this.#wake();
  }

  /** Nothing is taken any more, and waiters are notified. What is in the slot stays. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** A run of the controller begins. */
  begin(): void {
    this.#news = false;
    this.#taken = false;
  }

  /** The run has done what it was woken for. If it did not take the wake-up, that goes, unless another came since. */
  done(): void {
    if (!this.#taken) this.#full &&= this.#news;
  }

  /** The controller's run is over: what it still waits for it will not get. */
  abandon(): void {
    this.#run++;
    this.#wake();
  }

  /** Waits for a wake-up and takes it. False when the slot was closed, or the run is over. */
  async take(): Promise<boolean> {
    const run = this.#run;
    if (this.#full && !this.#closed) await new Promise<void>((resolve) => this.#clock.defer(resolve));
    while (!this.#full && !this.#closed && run === this.#run) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    if (this.#closed || run !== this.#run) return false;
    this.#full = false;
    this.#taken = true;
    this.#isOwn = this.#causes.take()?.() === true;
    return true;
  }

  /** Resolves in a later turn of the event loop, when there is a wake-up to take or the slot is closed. */
  async untilFull(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.defer(resolve));
    while (!this.#full && !this.#closed) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #wake(): void {
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
