import type { Event, Watch } from "../../state/index.ts";
import { withDeadline, type WaitOptions } from "./deadline.ts";
import { describeEvent, describeEvents } from "./describe-event.ts";

/** Reads a watch, plain or in batches, one event at a time, each within a deadline. It owns the watch: dispose it. */
export class WatchReader implements AsyncDisposable {
  readonly #watch: Watch<Event> | Watch<readonly Event[]>;
  readonly #options: WaitOptions;
  readonly #taken: Event[] = [];
  #batch: readonly Event[] = [];
  #batchIndex = 0;

  constructor(watch: Watch<Event> | Watch<readonly Event[]>, options: WaitOptions = {}) {
    this.#watch = watch;
    this.#options = options;
  }

  /** Everything that was read so far. */
  get taken(): readonly Event[] {
    return this.#taken;
  }

  /** The next event. @throws when there is none in time, or the watch ended. */
  async next(): Promise<Event> {
    const event = await this.nextOrEnd();
    if (event === undefined) throw new Error(`the watch ended after\n${describeEvents(this.#taken)}`);
    return event;
  }

  /** The next event; undefined when the watch ended. */
  async nextOrEnd(): Promise<Event | undefined> {
    if (this.#batchIndex >= this.#batch.length) {
      const result = await this.#nextFromWatch();
      if (result.done === true) return undefined;
      this.#batch = [result.value].flat();
      this.#batchIndex = 0;
      if (this.#batch.length === 0)
        throw new Error(`the watch delivered an empty batch after\n${describeEvents(this.#taken)}`);
    }
    const event = this.#batch[this.#batchIndex++];
    if (event !== undefined) this.#taken.push(event);
    return event;
  }

  /** The next `count` events. */
  async take(count: number): Promise<readonly Event[]> {
    const events: Event[] = [];
    while (events.length < count) events.push(await this.next());
    return events;
  }

  /** All events up to and including the first that `accepts` agrees to. */
  async takeUntil(accepts: (event: Event) => boolean): Promise<readonly Event[]> {
    for (const events: Event[] = []; ;) {
      const event = await this.next();
      events.push(event);
      if (accepts(event)) return events;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch[Symbol.asyncDispose]();
  }

  #nextFromWatch(): Promise<IteratorResult<Event | readonly Event[], unknown>> {
    const last = this.#taken.at(-1);
    const after = last === undefined ? "at the start of the watch" : `after ${describeEvent(last)}`;
    const failure = (limit: string) => new Error(`no event ${limit} ${after}`);
    const watch: AsyncIterator<Event | readonly Event[], unknown> = this.#watch;
    return withDeadline(this.#options, failure, () => watch.next());
  }
}
