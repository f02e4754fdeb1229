import type { Clock, Timer } from "../../../clock/index.ts";

/** What may wait to be sent before nothing more is encoded: by unary calls, and by streams. Unit: bytes. */
export const BUDGET_BYTES: Readonly<Record<"unary" | "serverStream", number>> = {
  unary: 8 * 1024 * 1024,
  serverStream: 16 * 1024 * 1024,
};
/** After so long without room, calls whose client takes nothing are ended. Unit: milliseconds. */
const STALL_MS = 20_000;

/** Waits for room in a budget. */
export interface RoomWaiter {
  /** There is room; others that wait are woken after what is done here, and in the microtasks that follow. */
  onRoom(): void;
}

/**
 * What calls of a connection have waiting to be sent: responses, lists or events, from the moment they are encoded until
 * they have left. Nothing is encoded while there is no room, so a client that does not read costs no more
 * than the limit and one message, however many calls it opens.
 *
 * Who waits is woken in order, one at a time, since how much it takes is known only afterwards.
 */
export class OutgoingBudget {
  readonly #clock: Clock;
  readonly #onStalled: () => void;
  readonly #limitBytes: number;
  readonly #waiting = new Set<RoomWaiter>();
  #usedBytes = 0;
  #waking = false;
  #timer: Timer | undefined;

  /**
   * @param onStalled - Called again and again while a call waits for room that does not come.
   * @param limitBytes - From this on there is no room.
   */
  constructor(clock: Clock, onStalled: () => void, limitBytes: number) {
    this.#clock = clock;
    this.#onStalled = onStalled;
    this.#limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get hasRoom(): boolean {
    return this.#usedBytes < this.#limitBytes;
  }

  /** Room also for a stream that has sent something which its client has not taken. */
  get hasAmpleRoom(): boolean {
    return this.#usedBytes < this.#limitBytes / 2;
  }

  /** Adds to what waits; negative when it has left. */
  add(bytes: number): void {
    this.#usedBytes += bytes;
    if (bytes < 0 && this.#waiting.size > 0) this.#wake();
  }

  wait(waiter: RoomWaiter): void {
    this.#waiting.add(waiter);
    this.#timer ??= this.#clock.schedule(STALL_MS, this.#onTimer);
    if (this.hasRoom) this.#wake();
  }

  forget(waiter: RoomWaiter): void {
    this.#waiting.delete(waiter);
  }

  /** The connection is closed. */
  close(): void {
    this.#waiting.clear();
    this.#timer?.cancel();
  }

  #wake(): void {
    if (this.#waking) return;
    this.#waking = true;
    process.nextTick(this.#wakeNext);
  }

  readonly #wakeNext = (): void => {
    this.#waking = false;
    const [next] = this.#waiting;
    if (next === undefined || !this.hasRoom) return;
    this.#waiting.delete(next);
    next.onRoom();
    if (this.#waiting.size > 0) this.#wake();
  };

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    this.#onStalled();
    this.#timer = this.#clock.schedule(STALL_MS, this.#onTimer);
  };
}
