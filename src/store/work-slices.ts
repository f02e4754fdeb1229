import type { Clock } from "../clock/index.ts";
import type { Resource } from "../resource/index.ts";
import type { CompiledQuery } from "../state/index.ts";

/** Filtering takes no longer than this before other work has its turn. Unit: milliseconds. */
const SLICE_MS = 4;

/** So much is compared between two looks at the clock, in the unit of {@link CompiledQuery.cost}. */
const COST_PER_LOOK = 2_000;

/** So many resources are looked at between two looks at the clock. */
export const strideOf = (query: CompiledQuery | undefined): number =>
  Math.max(1, Math.floor(COST_PER_LOOK / (query?.cost ?? 1)));

/** The slices of a State: lists wait for each other, and watches for each other. */
export interface StoreSlices {
  readonly lists: WorkSlices;
  readonly watches: WorkSlices;
}

/** The slices of a State: lists and watches take turns separately. */
export const createSlices = (clock: Pick<Clock, "monotonic" | "defer">): StoreSlices => ({
  lists: new WorkSlices(clock),
  watches: new WorkSlices(clock),
});

/**
 * Divides the filtering of a State into slices, so that no query, however costly, keeps the event loop from timers and
 * sockets. What is done within a slice is done at once; the rest waits its turn, one slice in each turn of the event loop,
 * however many lists and watches there are.
 */
export class WorkSlices {
  readonly #clock: Pick<Clock, "monotonic" | "defer">;
  #queue: (() => void)[] = [];
  #turnEndsAt: number | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "defer">) {
    this.#clock = clock;
  }

  /** True when the present turn of the event loop has had its slice. */
  get isSpent(): boolean {
    const now = this.#clock.monotonic();
    if (this.#turnEndsAt !== undefined) return now >= this.#turnEndsAt;
    this.#turnEndsAt = now + SLICE_MS;
    this.#clock.defer(this.#onTurn);
    return false;
  }

  /** The resources that match; a promise when that takes more than what is left of the present slice. */
  filter(
    resources: readonly Resource[],
    query: CompiledQuery,
    signal: AbortSignal | undefined,
  ): Resource[] | Promise<Resource[]> {
    const found: Resource[] = [];
    const next = this.isSpent ? 0 : this.#filterSlice(resources, query, 0, found);
    return next === resources.length ? found : this.#filterRest(resources, query, next, found, signal);
  }

  /** Filters from `from` until the slice is spent. Returns where it stopped. */
  #filterSlice(resources: readonly Resource[], query: CompiledQuery, from: number, found: Resource[]): number {
    const stride = strideOf(query);
    let at = from;
    do {
      const end = Math.min(resources.length, at + stride);
      for (; at < end; at++) {
        const resource = resources[at];
        if (resource !== undefined && query.matches(resource)) found.push(resource);
      }
    } while (at < resources.length && !this.isSpent);
    return at;
  }

  async #filterRest(
    resources: readonly Resource[],
    query: CompiledQuery,
    from: number,
    found: Resource[],
    signal: AbortSignal | undefined,
  ): Promise<Resource[]> {
    let at = from;
    while (at < resources.length) {
      await new Promise<void>((resolve) => this.#queue.push(resolve));
      signal?.throwIfAborted();
      at = this.#filterSlice(resources, query, at, found);
    }
    return found;
  }

  /** A new turn of the event loop: one of those who wait begins it. */
  readonly #onTurn = (): void => {
    this.#turnEndsAt = undefined;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#turnEndsAt = this.#clock.monotonic() + SLICE_MS;
    this.#clock.defer(this.#onTurn);
    next();
  };
}
