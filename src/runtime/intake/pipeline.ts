import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import type { Metadata } from "../../resource/index.ts";
import type { Change } from "../change.ts";

/** Where a change came from, and goes back to for its delivery. */
export interface ChangeSource {
  /** The pipeline has taken all changes of the source that it had. */
  handedOver(): void;
  /** Triggers everyone who depends on the resource now. */
  route(change: Change, nowMs: number): void;
}

/** A change that waits for its delivery. The last one of a resource wins. */
export interface PendingChange extends Change {
  readonly source: ChangeSource;
  metadata: Metadata;
  certain: boolean;
  before: readonly Metadata[];
  isBeforeCut: boolean;
}

/**
 * Stage 2 of the event pipeline. Stage 1, one channel for each kind, merges changes as they come; this delivers them.
 *
 * The hand-over crosses a macrotask: whatever changed in one turn of the event loop, however often, is delivered
 * together in the next, in order of first change. Only metadata travels, never a spec.
 */
export class Pipeline {
  readonly #clock: Clock;
  readonly #log: Logger;
  #pending: PendingChange[] = [];
  /** Where they came from. */
  readonly #sources = new Set<ChangeSource>();
  #calls: ((nowMs: number) => void)[] = [];
  #planned = false;
  #closed = false;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  add(change: PendingChange): void {
    if (this.#closed) return;
    this.#pending.push(change);
    this.#sources.add(change.source);
    this.#plan();
  }

  /** Calls `fn` behind the changes that wait. */
  call(fn: (nowMs: number) => void): void {
    if (this.#closed) return;
    this.#calls.push(fn);
    this.#plan();
  }

  /** Delivers nothing any more. */
  close(): void {
    this.#closed = true;
    this.#pending = [];
    this.#calls = [];
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.defer(this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#planned = false;
    const changes = this.#pending;
    this.#pending = [];
    const calls = this.#calls;
    this.#calls = [];
    const nowMs = this.#clock.monotonic();
    for (const source of this.#sources) source.handedOver();
    this.#sources.clear();
    for (const change of changes) {
      try {
        change.source.route(change, nowMs);
      } catch (error) {
        const { metadata } = change;
        this.#log.error("delivering a change failed", { type: metadata.type, id: metadata.id, error });
      }
    }
    for (const call of calls) call(nowMs);
  };
}
