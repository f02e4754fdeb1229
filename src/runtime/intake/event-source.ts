import type { Logger } from "../../log/index.ts";
import type { Kind, Metadata } from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import type { Route } from "../adapter.ts";
import { Cause } from "../causes/cause.ts";
import type { Change } from "../change.ts";
import { looksSame, withState } from "../mapper-view.ts";
import type { WriteLedger, Written } from "../causes/write-ledger.ts";
import type { Dependent, KindDependents } from "../graph/dependency-graph.ts";
import type { KindCache } from "../cache/kind-cache.ts";
import type { ChangeSource, PendingChange, Pipeline } from "./pipeline.ts";

/** What a channel asks the runtime. */
export interface EventSourceHost {
  readonly log: Logger;
  readonly pipeline: Pipeline;
  readonly writes: WriteLedger;
  /** Grows when {@link dependents} may give something else. */
  revision(): number;
  dependents(kind: Kind): KindDependents;
  /** Undefined when the controller has no adapter (yet). */
  routeOf(dependent: Dependent): Route | undefined;
}

const NOTHING: readonly Metadata[] = [];

/** Former states of one resource that are kept for mappers, at most. */
const MAX_BEFORE = 32;

interface Routes {
  readonly revision: number;
  /** Somebody maps changes to primaries, and so needs to know what the resource was before. */
  readonly isMapped: boolean;
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
export class KindEventSource implements ChangeSource {
  readonly kind: Kind;
  readonly cache: KindCache | undefined;
  readonly #host: EventSourceHost;
  readonly #pending = new Map<string, PendingChange>();
  /** Ids that exist: those listed, and those created since. Kept where a resync could not tell what has vanished. */
  #known: Set<string> | undefined;
  /** Ids that a running resync has delivered. */
  #resync: Set<string> | undefined;
  /** What resources were before a running resync, where mappers can tell. */
  readonly #moved = new Map<string, Metadata>();
  #routes: Routes | undefined;

  constructor(kind: Kind, cache: KindCache | undefined, host: EventSourceHost) {
    this.kind = kind;
    this.cache = cache;
    this.#host = host;
  }

  get knowsIds(): boolean {
    return this.#known !== undefined;
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
            this.#noteMoved(resource.metadata);
            this.cache.append(resource);
            break;
          }
          this.cache?.put(resource, event.revision);
          this.#merge(resource.metadata, false, event.old?.metadata, resource.metadata);
          break;
        }
        case EventType.destroyed: {
          const { metadata } = event.resource;
          this.#known?.delete(metadata.id);
          const filling = this.cache?.filling === true;
          this.cache?.remove(metadata, event.revision);
          if (!filling) this.#merge(metadata, false, undefined, "nothing");
          break;
        }
        case EventType.bootstrapped:
          this.#bootstrapped(event.revision);
          break;
        case EventType.resynced:
          this.#resync = new Set();
          this.#moved.clear();
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

  route(change: Change, nowMs: number): void {
    const { wide, byId } = this.#currentRoutes();
    for (const route of wide) route.trigger(change, nowMs);
    if (byId.size === 0) return;
    const forId = byId.get(change.metadata.id);
    if (forId !== undefined) for (const route of forId) route.trigger(change, nowMs);
  }

  /**
   * @param old - What it was before, where that is known and was something.
   * @param shown - What the event shows; absent for what a resync found, whose writer is not known.
   */
  #merge(metadata: Metadata, certain: boolean, old?: Metadata, shown?: Written): void {
    let change = this.#pending.get(metadata.id);
    if (change === undefined) {
      change = this.#open(metadata, certain);
      if (old !== undefined) this.#keepBefore(change, old);
    } else {
      const last = change.metadata;
      change.metadata = metadata;
      change.certain ||= certain;
      this.#keepBefore(change, last);
    }
    if (shown === undefined) change.cause?.addUnknown();
    else change.cause?.add(metadata, shown);
  }

  #open(metadata: Metadata, certain: boolean): PendingChange {
    const { namespace, type } = this.kind;
    const { writes } = this.#host;
    const cause = writes.tracks(namespace, type) ? new Cause(writes) : undefined;
    const change = { source: this, metadata, certain, before: NOTHING, isBeforeCut: false, cause };
    this.#pending.set(metadata.id, change);
    this.#host.pipeline.add(change);
    return change;
  }

  #keepBefore(change: PendingChange, state: Metadata): void {
    if (looksSame(state, change.metadata) || !this.#currentRoutes().isMapped) return;
    if (change.before.length < MAX_BEFORE) change.before = withState(change.before, state);
    else change.isBeforeCut = true;
  }

  /** The contents that a resync gives differ from those before: mappers have to see both. */
  #noteMoved(metadata: Metadata): void {
    if (this.#resync === undefined) return;
    const old = this.cache?.peek(metadata.id)?.metadata;
    if (old !== undefined && !looksSame(old, metadata)) this.#moved.set(metadata.id, old);
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
      for (const { metadata } of cache.listNow()) this.#merge(metadata, false, this.#moved.get(metadata.id));
      for (const { metadata } of vanished) this.#merge(metadata, true);
      this.#moved.clear();
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

  /** Wakes every dependent of the kind, in a macrotask as ever. */
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
    const isMapped = wide.some(({ input: { kind } }) => kind === "mapped" || kind === "mappedDestroyReady");
    this.#routes = { revision, isMapped, wide: routesOf(wide), byId: idRoutes };
    return this.#routes;
  }
}
