import type { Clock, Timer } from "./clock.ts";

/** Something that ends at a time unless it is over before. */
export interface Expiring {
  /** On the clock's monotonic time. Unit: milliseconds. */
  readonly deadlineAt: number;
  expire(): void;
}

/**
 * The deadlines of many short calls on one timer: a call that ends in time costs a place in a set. The timer is set
 * for the earliest of those that were there when it last fired, so calls of one time-out do not touch it.
 */
export class Deadlines {
  readonly #clock: Pick<Clock, "monotonic" | "schedule">;
  readonly #open = new Set<Expiring>();
  #timer: Timer | undefined;
  #dueAt = Infinity;

  constructor(clock: Pick<Clock, "monotonic" | "schedule">) {
    this.#clock = clock;
  }

  add(one: Expiring): void {
    this.#open.add(one);
    if (one.deadlineAt < this.#dueAt) this.#setTimer(one.deadlineAt);
  }

  delete(one: Expiring): void {
    if (!this.#open.delete(one) || this.#open.size > 0) return;
    // Nothing is left to wait for, and a timer would keep its owner alive.
    this.#timer?.cancel();
    this.#dueAt = Infinity;
  }

  #setTimer(dueAt: number): void {
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = this.#clock.schedule(Math.max(0, dueAt - this.#clock.monotonic()), () => this.#fire());
  }

  #fire(): void {
    this.#dueAt = Infinity;
    const now = this.#clock.monotonic();
    let next = Infinity;
    for (const one of this.#open) {
      if (one.deadlineAt > now) next = Math.min(next, one.deadlineAt);
      else {
        this.#open.delete(one);
        one.expire();
      }
    }
    if (next < this.#dueAt && this.#open.size > 0) this.#setTimer(next);
  }
}
