import fc from "fast-check";
import { equal, exists, hasCode, isInvalidBookmark, type Resource } from "../src/resource/index.ts";
import type { Event, OverrunPolicy, Query, State, Watch, WatchKindOptions } from "../src/state/index.ts";
import { PathResource, WatchFold } from "../src/testing/index.ts";

export const IDS = ["p0", "p1", "p2"] as const;

const QUERIES: readonly Query[] = [
  {},
  { labels: [equal("a", "1")] },
  { labels: [[equal("a", "2")], [exists("b")]] },
  { ids: "^p[01]$" },
  { labels: [exists("a")], ids: "[12]$" },
];

/** What a watch is of, how it is opened and how it is read. */
export interface WatchPlan {
  readonly form: "plain" | "batches" | "one";
  readonly query: Query;
  /** Of the form `one`. */
  readonly id: string;
  /** Otherwise it starts with what a list told. */
  readonly bootstrap: boolean;
  readonly overrun: OverrunPolicy;
  /** When told to, by iteration; by iteration all the time; or as an engine in the same process does. */
  readonly reading: "slow" | "eager" | "pending";
}

export const watchPlan: fc.Arbitrary<WatchPlan> = fc.record({
  form: fc.constantFrom("plain", "batches", "one"),
  query: fc.constantFrom(...QUERIES),
  id: fc.constantFrom(...IDS),
  bootstrap: fc.boolean(),
  overrun: fc.constantFrom("resync", "error"),
  reading: fc.constantFrom("slow", "eager", "pending"),
});

/** Lets everything happen that needs no more than a turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How often what is rare happened, so that a test can tell that it was tested. */
export interface Rarities {
  resyncs: number;
  overruns: number;
  resumes: number;
  expiries: number;
}

/** A client with one watch, and the contents that it believes in. */
export class WatchClient {
  readonly #state: State;
  readonly #plan: WatchPlan;
  readonly #rarities: Rarities;
  readonly #controller = new AbortController();
  #watch: Watch<Event> | Watch<readonly Event[]> | undefined;
  #fold = new WatchFold();
  /** A `next()` has no answer yet. */
  #waits = false;
  /** The State has said that something is pending. */
  #told = false;
  #failure: Error | undefined;
  /** Counts watches: what an earlier one delivers is not looked at. */
  #generation = 0;
  #applied = 0;

  constructor(state: State, plan: WatchPlan, rarities: Rarities) {
    this.#state = state;
    this.#plan = plan;
    this.#rarities = rarities;
  }

  get contents(): Iterable<Resource> {
    return this.#fold.contents.values();
  }

  get cancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Registers the watch together with the list that it starts from. */
  async open(): Promise<void> {
    const { form, query, bootstrap } = this.#plan;
    if (form === "one") return this.#register({}, new WatchFold());
    const initial = bootstrap ? [] : await this.#state.list(PathResource, query);
    return this.#register({ bootstrap }, new WatchFold(initial));
  }

  /** Goes on from where the contents stand, as after a lost connection; from the start where that is too long ago. */
  async restart(): Promise<void> {
    if (this.cancelled) return;
    const { bookmark } = this.#fold;
    if (bookmark === undefined) return this.open();
    try {
      await this.#register({ startFromBookmark: bookmark }, this.#fold);
      this.#rarities.resumes++;
    } catch (error) {
      if (!isInvalidBookmark(error)) throw error;
      this.#rarities.expiries++;
      await this.open();
    }
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** Takes what comes next, or asks for it unless it has asked already. */
  read(): void {
    if (this.#failure !== undefined) return;
    if (this.#plan.reading === "pending") this.#takePending();
    else if (!this.#waits) this.#askForNext();
  }

  /** Reads until nothing more comes. @throws whatever the watch did wrong. */
  async drain(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      const before = this.#applied;
      this.read();
      await turn();
      if (this.#failure !== undefined) await this.#recover(this.#failure);
      if (this.#applied !== before) quiet = -1;
    }
  }

  /** What the contents must be. */
  async present(): Promise<readonly Resource[]> {
    const { form, query, id } = this.#plan;
    if (form !== "one") return this.#state.list(PathResource, query);
    const resource = await this.#state.getOrNull(PathResource, id);
    return resource === undefined ? [] : [resource];
  }

  #takePending(): void {
    if (!this.#told) return;
    this.#told = false;
    for (let taken = this.#watch?.takePending?.(); taken !== undefined; taken = this.#watch?.takePending?.()) {
      if (this.cancelled) this.#failure = new Error("something was pending after the abort");
      this.#apply(taken);
    }
  }

  #askForNext(): void {
    const watch: AsyncIterator<Event | readonly Event[], unknown> | undefined = this.#watch;
    if (watch === undefined) return;
    this.#waits = true;
    const generation = this.#generation;
    const { cancelled } = this;
    void watch.next().then((result) => {
      if (generation !== this.#generation) return;
      this.#waits = false;
      if (result.done === true) return;
      if (cancelled) this.#failure = new Error("an event was delivered after the abort");
      this.#apply(result.value);
      if (this.#plan.reading === "eager") this.read();
    });
  }

  #apply(taken: Event | readonly Event[]): void {
    for (const event of [taken].flat()) {
      this.#applied++;
      if (event.type === "Resynced") this.#rarities.resyncs++;
      try {
        this.#fold.apply(event);
      } catch (error) {
        this.#failure = error as Error;
      }
    }
  }

  /** Opens a watch anew that was cut off for being late, as every client would. */
  async #recover(failure: Error): Promise<void> {
    if (!hasCode(failure, "watch_overrun")) throw failure;
    this.#rarities.overruns++;
    this.#failure = undefined;
    if (!this.cancelled) await this.open();
  }

  async #register(options: WatchKindOptions, fold: WatchFold): Promise<void> {
    const { form, query, id, overrun, reading } = this.#plan;
    const { signal } = this.#controller;
    const before = this.#watch;
    this.#generation++;
    const all = { ...options, ...query, overrun, signal };
    if (form === "one") {
      const { startFromBookmark } = options;
      this.#watch = await this.#state.watch(PathResource.ref(id), { startFromBookmark, overrun, signal });
    } else if (form === "plain") this.#watch = await this.#state.watchKind(PathResource, all);
    else this.#watch = await this.#state.watchKindBatches(PathResource, all);
    this.#waits = false;
    this.#told = true;
    if (reading === "pending") this.#watch.onPending?.(() => (this.#told = true));
    this.#fold = fold;
    await before?.[Symbol.asyncDispose]();
    if (reading !== "slow") this.read();
  }
}
