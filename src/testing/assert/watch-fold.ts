import { AssertionError } from "node:assert/strict";
import { compareVersions, isTombstone, type Resource } from "../../resource/index.ts";
import { EventType, type CoreState, type Event, type UpdatedEvent, type Watch } from "../../state/index.ts";
import { withDeadline, type WaitOptions } from "./deadline.ts";
import { describeEvent } from "./describe-event.ts";

/**
 * The contents that the events of a watch add up to.
 *
 * It is strict: an event that cannot follow those before it (a resource created twice, an update of something that is
 * not there, a version that goes back) is a broken promise of the State, and throws. Start it with what was there
 * before the watch, if the watch does not say so itself.
 */
export class WatchFold {
  readonly #contents = new Map<string, Resource>();
  #complete = false;
  #resyncs = 0;
  #bookmark: Uint8Array | undefined;
  #revision = 0;
  /** True where an event may describe what is there instead of a change: the first one, and the first of a resync. */
  #atStart = true;

  constructor(initial: Iterable<Resource> = []) {
    for (const resource of initial) this.#contents.set(resource.metadata.id, resource);
  }

  /** By id. */
  get contents(): ReadonlyMap<string, Resource> {
    return this.#contents;
  }

  /** True after `Bootstrapped`, and until the next resync begins: nothing that exists is missing from the contents. */
  get complete(): boolean {
    return this.#complete;
  }

  /** How many times the watch was moved to the present contents. */
  get resyncs(): number {
    return this.#resyncs;
  }

  /** Where another watch can go on with these contents; undefined before the first such place, and within a resync. */
  get bookmark(): Uint8Array | undefined {
    return this.#bookmark;
  }

  /** @throws {AssertionError} for an event that cannot come now; the error of an `Errored` event. */
  apply(event: Event): void {
    this.#checkRevision(event);
    this.#atStart = event.type === EventType.resynced;
    switch (event.type) {
      case EventType.errored:
        throw event.error;
      case EventType.created:
        this.#expect(event, !this.#contents.has(event.resource.metadata.id), "it is there already");
        this.#contents.set(event.resource.metadata.id, event.resource);
        break;
      case EventType.updated:
        this.#applyUpdate(event);
        break;
      case EventType.destroyed: {
        const { id } = event.resource.metadata;
        this.#expect(event, this.#contents.delete(id) || isTombstone(event.resource), "it is not there");
        break;
      }
      case EventType.resynced:
        this.#contents.clear();
        this.#complete = false;
        this.#resyncs++;
        this.#bookmark = undefined;
        return;
      case EventType.bootstrapped:
        this.#complete = true;
        break;
      case EventType.noop:
        break;
    }
    this.#bookmark = event.bookmark ?? this.#bookmark;
  }

  #applyUpdate(event: UpdatedEvent): void {
    const { id, version } = event.resource.metadata;
    const before = this.#contents.get(id);
    this.#expect(event, before !== undefined, "it is not there");
    this.#expect(event, compareVersions(event.old.metadata.version, version) < 0, "its version does not grow");
    this.#expect(
      event,
      before?.metadata.version === event.old.metadata.version,
      `@${before?.metadata.version} was there`,
    );
    this.#contents.set(id, event.resource);
  }

  #checkRevision(event: Event): void {
    const { revision } = event;
    if (revision === undefined) return;
    const isChange =
      event.type === EventType.created || event.type === EventType.updated || event.type === EventType.destroyed;
    const grows = isChange && !this.#atStart ? revision > this.#revision : revision >= this.#revision;
    this.#expect(event, grows, `its revision, ${revision}, comes after ${this.#revision}`);
    this.#revision = revision;
  }

  #expect(event: Event, holds: boolean, complaint: string): void {
    if (!holds) throw new AssertionError({ message: `${describeEvent(event)}: ${complaint}`, actual: event });
  }
}

/** Options of {@link foldWatch}: where it starts and when it is complete. */
export interface FoldOptions extends WaitOptions {
  /** What was there before the watch. Default: nothing. */
  readonly initial?: Iterable<Resource> | undefined;
  /** Asked after each event, or each batch. Default: {@link WatchFold.complete}. */
  readonly until?: ((fold: WatchFold) => boolean) | undefined;
}

/**
 * Folds a watch, plain or in batches, until it says so.
 *
 * @throws the error of an `Errored` event; when time is up or the watch ends before.
 */
export async function foldWatch(
  watch: Watch<Event> | Watch<readonly Event[]>,
  options: FoldOptions = {},
): Promise<WatchFold> {
  const { initial, until = (one: WatchFold) => one.complete } = options;
  const fold = new WatchFold(initial);
  const failure = (limit: string) =>
    new Error(`the watch did not get there ${limit}; it holds ${describeContents(fold)}`);
  await withDeadline(options, failure, async () => {
    for (;;) {
      const result: IteratorResult<Event | readonly Event[], unknown> = await watch.next();
      if (result.done === true) throw new Error(`the watch ended; it holds ${describeContents(fold)}`);
      for (const event of [result.value].flat()) fold.apply(event);
      if (until(fold)) return;
    }
  });
  return fold;
}

/** Follows a kind from its present contents until `until` agrees to them, and resolves to what it returned. */
export async function followKind<T>(
  state: CoreState,
  kind: { readonly namespace: string; readonly type: string },
  options: WaitOptions,
  failure: (limit: string) => Error,
  until: (contents: ReadonlyMap<string, Resource>) => T | undefined | Promise<T | undefined>,
): Promise<T> {
  return withDeadline(options, failure, async (signal) => {
    await using watch = await state.watchKindBatches(kind, { bootstrap: true, signal });
    const fold = new WatchFold();
    for await (const batch of watch) {
      for (const event of batch) fold.apply(event);
      const answer = fold.complete ? await until(fold.contents) : undefined;
      if (answer !== undefined) return answer;
    }
    signal.throwIfAborted();
    throw new Error("the watch ended");
  });
}

function describeContents({ contents }: WatchFold): string {
  const texts = [...contents.values()].map(({ metadata }) => `${metadata.id}@${metadata.version}`);
  return texts.length === 0 ? "nothing" : texts.join(", ");
}
