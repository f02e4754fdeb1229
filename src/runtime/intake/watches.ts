import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import { kindOf, type Kind } from "../../resource/index.ts";
import type { CoreState } from "../../state/index.ts";
import type { Adapter } from "../adapter.ts";
import type { DeclaredInput } from "../declared-input.ts";
import type { DependencyGraph } from "../graph/dependency-graph.ts";
import { KindCache } from "../cache/kind-cache.ts";
import { KindChannel, type ChannelHost } from "./event-source.ts";
import { KindMap } from "../kind-map.ts";
import type { MetricsRegistry } from "../metrics/metrics.ts";
import { Pipeline } from "./pipeline.ts";
import { WatchIntake } from "./watch-loop.ts";

export interface WatchesInit {
  readonly core: CoreState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly graph: DependencyGraph;
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
  readonly #init: WatchesInit;
  readonly #pipeline: Pipeline;
  readonly #channels = new KindMap<KindChannel>();
  readonly #intakes = new Map<KindChannel, WatchIntake>();
  readonly #host: ChannelHost;
  #closed: { readonly reason: unknown } | undefined;

  constructor(init: WatchesInit) {
    this.#init = init;
    this.#pipeline = new Pipeline(init.clock, init.log);
    this.#host = {
      log: init.log,
      pipeline: this.#pipeline,
      revision: () => init.graph.revision,
      dependents: ({ namespace, type }) => init.graph.dependentsOfKind(namespace, type),
      routeOf: ({ controller, input }) => init.adapter(controller)?.route(input),
    };
    for (const kind of init.cache) {
      this.caches.ensure(kind, () => new KindCache(kind, init.metrics.cachedResources(kind.type)));
      this.#channel(kind);
    }
  }

  /** Prepares for inputs; {@link open} or {@link openAll} opens their watches. */
  need(inputs: readonly DeclaredInput[]): void {
    for (const input of inputs) {
      const channel = this.#channel(input);
      if (input.kind === "primary") channel.knowIds();
    }
  }

  /** Opens the watches that are missing. When it fails, those that it opened are closed again. */
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

  async close(reason: unknown): Promise<void> {
    this.#closed = { reason };
    this.#pipeline.close();
    await Promise.all([...this.#intakes.values()].map((intake) => intake.close(reason)));
  }

  #channel(kind: Kind): KindChannel {
    const { namespace, type } = kind;
    return this.#channels.ensure(
      kind,
      () => new KindChannel(kindOf(kind), this.caches.get(namespace, type), this.#host),
    );
  }

  async #open(channels: readonly KindChannel[]): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed.reason;
    const { core, onError } = this.#init;
    const missing = channels.filter((channel) => !this.#intakes.has(channel));
    const intakes = missing.map((channel) => new WatchIntake(core, channel, onError));
    for (const intake of intakes) this.#intakes.set(intake.channel, intake);
    const results = await Promise.allSettled(intakes.map((intake) => intake.open()));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      for (const { channel } of intakes) this.#intakes.delete(channel);
      await Promise.all(intakes.map((intake) => intake.close(failed.reason)));
      throw failed.reason;
    }
    for (const intake of intakes) this.#start(intake);
  }

  #start(intake: WatchIntake): void {
    const { cache, kind } = intake.channel;
    if (cache !== undefined && !intake.synchronous) this.lagging.set(kind, cache);
    intake.start();
  }
}
