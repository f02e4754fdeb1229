import { abortable } from "../internal/abortable.ts";
import { kindOf, StateError, type Kind, type Resource, type ResourceType } from "../resource/index.ts";
import { watchEnded } from "./derive/watch-ended.ts";
import type { Watch } from "./core-state.ts";
import type { Event } from "./event.ts";
import type { CallOptions, Query } from "./options.ts";
import { changeOf, Reflector, type ReflectedChange } from "./reflector.ts";
import type { State } from "./state.ts";

/** Which resources to reflect, and until when. */
export interface ReflectOptions extends CallOptions, Query {}

/**
 * The contents of a kind in memory, kept current by a watch. Leaving the block or the loop releases it.
 *
 * Iterating gives the changes since the last time, at least one in each batch, from the empty contents on. They are
 * gathered by resource: a slow reader sees the latest state of each, so what is kept for a reader is bounded by
 * the number of resources. One that was destroyed and created anew in between is an update, whose `old` was created at
 * another time. Iterate once at a time.
 */
export interface Reflection<Spec = unknown>
  extends AsyncIterableIterator<readonly ReflectedChange<Spec>[]>, AsyncDisposable {
  /** By id. Changes as the kind does; copy it to keep it. */
  readonly contents: ReadonlyMap<string, Resource<Spec>>;
  /** The resource of this id, if it exists. */
  get(id: string): Resource<Spec> | undefined;
}

/**
 * Reflects a kind, or those of its resources that match. Resolves when the first contents are complete. When the watch
 * loses its place, the contents stay as they were until the new ones are complete, and what vanished meanwhile is among
 * the changes.
 *
 * ```ts
 * await using services = await reflect(state, Service, { signal });
 * for await (const changes of services) console.log(changes.length, "changed,", services.contents.size, "there");
 * ```
 *
 * @param options - `signal` ends it: the iteration rejects with its reason.
 * @throws {StateError} as `watchKind`; `unavailable` when the watch ends by itself. The iteration then throws the same.
 */
export async function reflect<Spec>(
  state: State,
  type: ResourceType<Spec, string, never>,
  options?: ReflectOptions,
): Promise<Reflection<Spec>>;
export async function reflect(state: State, kind: Kind, options?: ReflectOptions): Promise<Reflection>;
export async function reflect(state: State, kind: Kind, options: ReflectOptions = {}): Promise<Reflection> {
  options.signal?.throwIfAborted();
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const opening = state.watchKindBatches(kind, { ...options, bootstrap: true, signal });
  const reflection = new WatchReflection(kindOf(kind), await openedUntil(opening, signal), stop, signal);
  try {
    await reflection.ready;
  } catch (error) {
    await reflection[Symbol.asyncDispose]();
    throw error;
  }
  return reflection;
}

/** The watch; the signal's reason when that aborts first. A watch that opens too late is released. */
async function openedUntil<W extends AsyncDisposable>(opening: Promise<W>, signal: AbortSignal): Promise<W> {
  try {
    return await abortable(opening, signal);
  } catch (error) {
    opening.then(
      (late) => late[Symbol.asyncDispose](),
      () => {},
    );
    throw error;
  }
}

class WatchReflection<Spec> implements Reflection<Spec> {
  readonly #kind: Kind;
  readonly #reflector = new Reflector<Spec>();
  readonly #stop: AbortController;
  /** Ended by the loop below, in whatever way. */
  readonly #running: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  /** What readers knew of the resources that have changed since: undefined for those that were not there. */
  readonly #seen = new Map<string, Resource<Spec> | undefined>();
  #wake: PromiseWithResolvers<void> | undefined;
  /** Why nothing more comes. */
  #end: { readonly error: unknown } | undefined;
  #disposed = false;

  constructor(kind: Kind, watch: Watch<readonly Event[]>, stop: AbortController, signal: AbortSignal) {
    this.#kind = kind;
    this.#stop = stop;
    this.#running = this.#run(watch as Watch<readonly Event<Spec>[]>, signal);
  }

  /** Settles with the first contents, or with what ended the watch before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get contents(): ReadonlyMap<string, Resource<Spec>> {
    return this.#reflector.contents;
  }

  get(id: string): Resource<Spec> | undefined {
    return this.#reflector.contents.get(id);
  }

  async next(): Promise<IteratorResult<readonly ReflectedChange<Spec>[], undefined>> {
    for (;;) {
      if (this.#disposed) return { done: true, value: undefined };
      const value = this.#takeChanges();
      if (value.length > 0) return { done: false, value };
      if (this.#end !== undefined) throw this.#end.error;
      await (this.#wake ??= Promise.withResolvers()).promise;
    }
  }

  async return(): Promise<IteratorResult<readonly ReflectedChange<Spec>[], undefined>> {
    await this[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#stop.abort(new StateError("unavailable", `the reflection of ${this.#kind.type} was disposed`));
    this.#notify();
    await this.#running;
  }

  async #run(watch: Watch<readonly Event<Spec>[]>, signal: AbortSignal): Promise<void> {
    try {
      // A State that ignores the signal must not keep anyone waiting.
      for (let batch = await nextOf(watch, signal); batch !== undefined; batch = await nextOf(watch, signal)) {
        for (const event of batch) for (const change of this.#reflector.take(event)) this.#note(change);
        if (this.#reflector.complete) this.#ready.resolve();
        if (this.#seen.size > 0) this.#notify();
      }
      throw watchEnded({ ...this.#kind, id: "" }, signal);
    } catch (error) {
      this.#end = { error };
      // The opener is notified; later failures go to readers.
      this.#ready.promise.catch(() => {});
      this.#ready.reject(error);
      this.#notify();
      watch[Symbol.asyncDispose]().then(undefined, () => {});
    }
  }

  #note({ resource, old, type }: ReflectedChange<Spec>): void {
    const { id } = resource.metadata;
    if (!this.#seen.has(id)) this.#seen.set(id, type === "destroyed" ? resource : old);
  }

  #takeChanges(): readonly ReflectedChange<Spec>[] {
    const changes: ReflectedChange<Spec>[] = [];
    for (const [id, old] of this.#seen) {
      const change = changeOf(old, this.get(id));
      if (change !== undefined) changes.push(change);
    }
    this.#seen.clear();
    return changes;
  }

  #notify(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }
}

async function nextOf<T>(watch: Watch<T>, signal: AbortSignal): Promise<T | undefined> {
  const result: IteratorResult<T, unknown> = await abortable(watch.next(), signal);
  return result.done === true ? undefined : result.value;
}
