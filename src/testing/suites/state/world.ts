import { AssertionError } from "node:assert/strict";
import {
  createResource,
  hasCode,
  isUnsupported,
  type MetadataInit,
  type Pointer,
  type Resource,
  type ResourceType,
  type StateErrorCode,
} from "../../../resource/index.ts";
import { macrotask } from "../../../clock/index.ts";
import { EventType, type Event, type State, type WatchKindOptions, type WatchOptions } from "../../../state/index.ts";
import { PathResource, type PathSpec } from "../conformance-resources.ts";
import { withDeadline, type WaitOptions } from "../../assert/deadline.ts";
import { WatchReader } from "../../assert/watch-reader.ts";

/** One promise of the State contract, and the steps that show that it is kept. */
export interface Scenario {
  /** A sentence about behaviour, unique in the suite, behind the tags of the specification's scenarios that it shows. */
  readonly name: string;
  readonly run: (world: World) => Promise<void>;
}

/** The two forms in which the events of a kind can be asked for. They must not differ in what they deliver. */
export type WatchForm = "plain" | "batches";
export const WATCH_FORMS: readonly WatchForm[] = ["plain", "batches"];

/** Thrown by {@link World.skip}. */
export class ScenarioSkipped extends Error {
  override readonly name: string = "ScenarioSkipped";
}

/** What a scenario works with: one State, and everything that it opens, released after it. */
export class World implements AsyncDisposable {
  readonly state: State;
  /** Namespaces that nothing else uses while the scenario runs. */
  readonly namespaces: readonly string[];
  /** How long the scenario waits for each thing that must happen. */
  readonly waits: WaitOptions;
  readonly #open: AsyncDisposable[] = [];

  constructor(state: State, namespaces: readonly string[], waits: WaitOptions) {
    this.state = state;
    this.namespaces = namespaces;
    this.waits = waits;
  }

  /** Where a scenario that needs one namespace works. */
  get namespace(): string {
    const [first] = this.namespaces;
    if (first === undefined) throw new TypeError("the suite needs at least one namespace");
    return first;
  }

  get kind(): ResourceType<PathSpec, "os/path"> {
    return PathResource.in(this.namespace);
  }

  /** A path resource that is not stored yet. */
  path(id: string, init: Partial<MetadataInit> = {}): Resource<PathSpec> {
    return createResource({ namespace: this.namespace, type: PathResource.type, ...init, id }, {}, PathResource.source);
  }

  /** Creates a path resource; resolves to it as stored. */
  create(id: string, init: Partial<MetadataInit> = {}): Promise<Resource<PathSpec>> {
    return this.state.create(this.path(id, init));
  }

  async watch(pointer: Pointer, options?: WatchOptions): Promise<WatchReader> {
    return this.#reader(await this.state.watch(pointer, options));
  }

  /** Watches the path resources of the first namespace. */
  async watchKind(form: WatchForm, options?: WatchKindOptions): Promise<WatchReader> {
    const watch =
      form === "plain" ? this.state.watchKind(this.kind, options) : this.state.watchKindBatches(this.kind, options);
    return this.#reader(await watch);
  }

  /** {@link watchKind} and {@link watch} for what not every State offers: skips the scenario where it does not. */
  async ifSupported<T>(feature: string, open: Promise<T>): Promise<T> {
    try {
      return await open;
    } catch (error) {
      if (isUnsupported(error)) this.skip(`the State does not support ${feature}`);
      throw error;
    }
  }

  /** Ends the scenario without a verdict. */
  skip(reason: string): never {
    throw new ScenarioSkipped(reason);
  }

  /** Waits for `promise`, but not for ever. */
  within<T>(what: string, promise: Promise<T>): Promise<T> {
    return withDeadline(
      this.waits,
      (limit) => new Error(`${what} did not happen ${limit}`),
      () => promise,
    );
  }

  async aborted(what: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    await this.within(`the abort of ${what}`, promise);
  }

  /** Lets everything happen that is under way: what has not happened after it is taken not to happen. */
  async settle(): Promise<void> {
    const marker = await this.create(`settled/${this.#settled++}`);
    const reader = await this.watch(marker.metadata);
    await reader.next();
    await this.state.destroy(marker.metadata);
    await reader.next();
    for (let turn = 0; turn < 10; turn++) await new Promise<void>(macrotask);
  }
  #settled = 0;

  /** Releases `resource` when the scenario ends. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.#open.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  }

  #reader(watch: ConstructorParameters<typeof WatchReader>[0]): WatchReader {
    return this.use(new WatchReader(watch, this.waits));
  }
}

/** Ids in the order of the list. */
export const idsOf = (list: readonly Resource[]): readonly string[] => list.map(({ metadata }) => metadata.id);

/** The short form that resources are compared by where versions and content do not count. */
export const shortOf = ({ metadata }: Resource): string => `${metadata.type}(${metadata.namespace}/${metadata.id})`;

/**
 * Waits for a rejection that `accepts` agrees to, and resolves to the error.
 *
 * @param category - What `accepts` tests, for the message.
 */
export async function rejects(
  promise: Promise<unknown>,
  category: string,
  accepts: (error: unknown) => boolean,
): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (accepts(error)) return error;
    throw new AssertionError({ message: `expected ${category}, got the error: ${String(error)}`, actual: error });
  }
  throw new AssertionError({ message: `expected ${category}, but it succeeded with ${String(value)}`, actual: value });
}

/** {@link rejects} for one code. */
export const rejectsWith = (promise: Promise<unknown>, code: StateErrorCode): Promise<unknown> =>
  rejects(promise, code, (error) => hasCode(error, code));

/** True for the event that a watch of a missing resource starts with, and for the last of an existing one. */
export const isDestroyed = (event: Event): boolean => event.type === EventType.destroyed;
