import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import { kindOf, type Kind } from "../../resource/index.ts";
import { getOrNull, type CoreState } from "../../state/index.ts";
import type { Adapter } from "../adapter.ts";
import type { DeclaredInput } from "../declared-input.ts";
import type { DependencyGraph } from "../graph/dependency-graph.ts";
import type { WriteLedger } from "../causes/write-ledger.ts";
import { KindCache, type CacheOrigin } from "../cache/kind-cache.ts";
import { KindEventSource, type EventSourceHost } from "./event-source.ts";
import { KindMap } from "../kind-map.ts";
import type { MetricsRegistry } from "../metrics/metrics.ts";
import { PendingCalls } from "../pending-calls.ts";
import { Pipeline } from "./pipeline.ts";
import { WatchLoop } from "./watch-loop.ts";

export interface WatchesInit {
  readonly core: CoreState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly graph: DependencyGraph;
  readonly writes: WriteLedger;
  readonly cache: readonly Kind[];
  readonly adapter: (name: string) => Adapter | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * The event pipeline as a whole: one watch and one channel for each kind that somebody needs or that is cached. Watches
 * are never removed before the end.
 */
export class Watches {
  readonly caches: KindMap<KindCache> = new KindMap();
  /** Caches whose events may come after the answers of the writes that made them. */
  readonly lagging: KindMap<KindCache> = new KindMap();
  /** Those that know their ids, and whose watch can lose its place. */
  readonly unsteady: KindMap<KindEventSource> = new KindMap();
  readonly #init: WatchesInit;
  readonly #pipeline: Pipeline;
  readonly #channels = new KindMap<KindEventSource>();
  readonly #loops = new Map<KindEventSource, WatchLoop>();
  /** Those whose opening failed, until they are closed. */
  readonly #dropped = new Set<WatchLoop>();
  readonly #calls = new PendingCalls();
  readonly #host: EventSourceHost;
  #stopped: { readonly reason: unknown } | undefined;

  constructor(init: WatchesInit) {
    this.#init = init;
    this.#pipeline = new Pipeline(init.clock, init.log);
    this.#host = {
      log: init.log,
      pipeline: this.#pipeline,
      writes: init.writes,
      revision: () => init.graph.revision,
      dependents: ({ namespace, type }) => init.graph.dependentsOfKind(namespace, type),
      routeOf: ({ controller, input }) => init.adapter(controller)?.route(input),
    };
    const origin = originOf(init.core, this.#calls);
    for (const kind of init.cache) {
      this.caches.ensure(kind, () => new KindCache(kind, init.metrics.cachedResources(kind.type), origin));
      this.#channel(kind);
    }
  }

  /** Prepares for inputs; {@link open} or {@link openAll} opens their watches. */
  need(inputs: readonly DeclaredInput[]): void {
    for (const input of inputs) {
      const channel = this.#channel(input);
      if (input.kind !== "primary") continue;
      channel.knowIds();
      const loop = this.#loops.get(channel);
      if (loop?.isOpen === true) this.#opened(loop);
    }
  }

  /**
   * Opens the watches that are missing; several calls may do so at once, and none waits for what only another one needs.
   * When it fails, those that are open for this call alone are closed again.
   */
  open(inputs: readonly DeclaredInput[]): Promise<void> {
    return this.#open([...new Set(inputs.map((input) => this.#channel(input)))]);
  }

  openAll(): Promise<void> {
    return this.#open([...this.#channels.values()]);
  }

  /** These exist, says a list. */
  listed({ namespace, type }: Kind, ids: Iterable<string>): void {
    this.#channels.get(namespace, type)?.listed(ids);
  }

  /**
   * Delivers nothing and opens nothing any more; what is being opened is given up. Caches are fed until {@link close}, so
   * that controllers can still read while they end.
   */
  stop(reason: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { reason };
    this.#pipeline.close();
    for (const loop of this.#loops.values()) loop.giveUpOpening(reason);
  }

  /** Ends all watches and caches, and every wait for them. Resolves when the State has released the watches. */
  async close(reason: unknown): Promise<void> {
    this.stop(reason);
    for (const cache of this.caches.values()) cache.close(reason);
    await Promise.all(this.#everyLoop().map((loop) => loop.close(reason)));
  }

  /** What the State has been asked for and has not answered. */
  unanswered(): readonly string[] {
    return [...this.#everyLoop().flatMap((loop) => loop.unanswered ?? []), ...this.#calls.describe()];
  }

  /** Watches that are needed and not open (yet), as sentences. */
  unopened(): readonly string[] {
    return [...this.#channels.values()]
      .filter((channel) => this.#loops.get(channel)?.isOpen !== true)
      .map(({ kind: { namespace, type } }) => `the watch of ${type} in ${JSON.stringify(namespace)} is not open`);
  }

  #everyLoop(): readonly WatchLoop[] {
    return [...this.#loops.values(), ...this.#dropped];
  }

  #channel(kind: Kind): KindEventSource {
    const { namespace, type } = kind;
    return this.#channels.ensure(
      kind,
      () => new KindEventSource(kindOf(kind), this.caches.get(namespace, type), this.#host),
    );
  }

  async #open(channels: readonly KindEventSource[]): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
    const loops = channels.map((channel) => this.#claim(channel));
    try {
      await Promise.all(loops.map((loop) => loop.open(this.#opened)));
    } catch (error) {
      for (const loop of loops) if (loop.release()) this.#drop(loop, error);
      throw error;
    }
  }

  #claim(channel: KindEventSource): WatchLoop {
    let loop = this.#loops.get(channel);
    if (loop === undefined) this.#loops.set(channel, (loop = new WatchLoop(this.#init, channel)));
    loop.claim();
    return loop;
  }

  #drop(loop: WatchLoop, reason: unknown): void {
    if (this.#loops.get(loop.channel) === loop) this.#loops.delete(loop.channel);
    this.#dropped.add(loop);
    const { kind } = loop.channel;
    loop
      .close(reason)
      .catch((error: unknown) => this.#init.log.warn("a watch could not be closed", { ...kind, error }))
      .finally(() => {
        if (loop.unanswered === undefined) this.#dropped.delete(loop);
      });
  }

  readonly #opened = (loop: WatchLoop): void => {
    const { cache, kind } = loop.channel;
    if (loop.synchronous) return;
    if (cache !== undefined) this.lagging.set(kind, cache);
    else if (loop.channel.knowsIds) this.unsteady.set(kind, loop.channel);
  };
}

/** A query that no id matches: only the revision of the list is of interest. */
const NONE = "^$";

const originOf = (core: CoreState, calls: PendingCalls): CacheOrigin => ({
  get: (pointer, options) => calls.note("get", pointer, getOrNull(core, pointer, options)),
  revision: async (kind, options) =>
    (await calls.note("list", kind, core.list(kind, { ...options, ids: NONE }))).revision,
});
