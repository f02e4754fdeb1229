import type { Logger } from "../../log/index.ts";
import type { Kind, Metadata } from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import type { Route } from "../adapter.ts";
import type { Dependent, KindDependents } from "../graph/dependency-graph.ts";
import type { KindCache } from "../cache/kind-cache.ts";
import type { ChangeSource, PendingChange, Pipeline } from "./pipeline.ts";

/** What a channel asks the runtime. */
export interface ChannelHost {
  readonly log: Logger;
  readonly pipeline: Pipeline;
  /** Grows when {@link dependents} may give something else. */
  revision(): number;
  dependents(kind: Kind): KindDependents;
  /** Undefined when the controller has no adapter (yet). */
  routeOf(dependent: Dependent): Route | undefined;
}

interface Routes {
  readonly revision: number;
  readonly wide: readonly Route[];
  readonly byId: ReadonlyMap<string, readonly Route[]>;
}

/**
 * Stage 1 of the event pipeline, for one kind: takes what its watch delivers, keeps the cache up to date, then merges
 * the change into those that wait for delivery. So the cache is always at least as fresh as what wakes a controller.
 *
 * *Filling* (a cached kind, until `Bootstrapped`): contents go to the cache, no one is woken. *Live*: every change is
 * merged. *Resyncing* (from `Resynced` to `Bootstrapped`): the watch lost its place, and gives the contents anew; at
 * the end everything that is there, and everything that is no more, counts as changed.
 */
export class KindChannel implements ChangeSource {
  readonly kind: Kind;
  readonly cache: KindCache | undefined;
  readonly #host: ChannelHost;
  readonly #pending = new Map<string, PendingChange>();
  /** Ids that exist: those listed, and those created since. Kept where a resync could not tell what has vanished. */
  #known: Set<string> | undefined;
  /** Ids that a running resync has delivered. */
  #resync: Set<string> | undefined;
  #routes: Routes | undefined;

  constructor(kind: Kind, cache: KindCache | undefined, host: ChannelHost) {
    this.kind = kind;
    this.cache = cache;
    this.#host = host;
  }

  /** From now on a resync tells which resources have vanished. */
  knowIds(): void {
    if (this.cache === undefined) this.#known ??= new Set();
  }

  /** These exist, says a list. */
  listed(ids: Iterable<string>): void {
    const known = this.#known;
    if (known !== undefined) for (const id of ids) known.add(id);
  }

  /** Takes a batch of the watch. @returns the error that ended it, if one did. */
  consume(batch: readonly Event[]): Error | undefined {
    for (const event of batch) {
      switch (event.type) {
        case EventType.created:
        case EventType.updated: {
          const { resource } = event;
          if (event.type === EventType.created) this.#known?.add(resource.metadata.id);
          this.#resync?.add(resource.metadata.id);
          if (this.cache?.filling === true) {
            this.cache.append(resource);
            break;
          }
          this.cache?.put(resource, event.revision);
          this.#merge(resource.metadata, false);
          break;
        }
        case EventType.destroyed: {
          const { metadata } = event.resource;
          this.#known?.delete(metadata.id);
          const filling = this.cache?.filling === true;
          this.cache?.remove(metadata, event.revision);
          if (!filling) this.#merge(metadata, false);
          break;
        }
        case EventType.bootstrapped:
          this.#bootstrapped(event.revision);
          break;
        case EventType.resynced:
          this.#resync = new Set();
          this.cache?.refill();
          break;
        case EventType.errored:
          return event.error;
        case EventType.noop:
          break;
      }
    }
    return undefined;
  }

  handedOver(): void {
    this.#pending.clear();
  }

  route(metadata: Metadata, nowMs: number, certain: boolean): void {
    const { wide, byId } = this.#currentRoutes();
    for (const route of wide) route.trigger(metadata, nowMs, certain);
    if (byId.size === 0) return;
    const forId = byId.get(metadata.id);
    if (forId !== undefined) for (const route of forId) route.trigger(metadata, nowMs, certain);
  }

  #merge(metadata: Metadata, certain: boolean): void {
    const pending = this.#pending.get(metadata.id);
    if (pending !== undefined) {
      pending.metadata = metadata;
      pending.certain ||= certain;
      return;
    }
    const change = { source: this, metadata, certain };
    this.#pending.set(metadata.id, change);
    this.#host.pipeline.add(change);
  }

  #bootstrapped(revision: number | undefined): void {
    const { cache } = this;
    const delivered = this.#resync;
    const vanished = cache?.filled(revision) ?? [];
    if (cache !== undefined) {
      const { namespace, type } = this.kind;
      this.#host.log.debug("cache filled", { namespace, type, resources: cache.size });
    }
    if (delivered === undefined) return;
    this.#resync = undefined;
    if (cache !== undefined) {
      for (const { metadata } of cache.listNow()) this.#merge(metadata, false);
      for (const { metadata } of vanished) this.#merge(metadata, true);
    }
    this.#resynced(cache === undefined ? this.#forgetVanished(delivered) : "triggered");
  }

  #forgetVanished(delivered: ReadonlySet<string>): readonly string[] {
    const known = this.#known;
    if (known === undefined) return [];
    const vanished = [...known].filter((id) => !delivered.has(id));
    for (const id of vanished) known.delete(id);
    return vanished;
  }

  /** Wakes whoever depends on anything of the kind, in a macrotask as ever. */
  #resynced(vanished: readonly string[] | "triggered"): void {
    this.#host.pipeline.call((nowMs) => {
      const { wide, byId } = this.#currentRoutes();
      for (const route of wide) route.resynced(vanished, nowMs);
      for (const routes of byId.values()) for (const route of routes) route.resynced(vanished, nowMs);
    });
  }

  #currentRoutes(): Routes {
    const revision = this.#host.revision();
    if (this.#routes?.revision === revision) return this.#routes;
    const { wide, byId } = this.#host.dependents(this.kind);
    const routesOf = (dependents: readonly Dependent[]): readonly Route[] =>
      dependents.map((dependent) => this.#host.routeOf(dependent)).filter((route) => route !== undefined);
    const idRoutes = new Map([...byId].map(([id, dependents]) => [id, routesOf(dependents)] as const));
    this.#routes = { revision, wide: routesOf(wide), byId: idRoutes };
    return this.#routes;
  }
}
