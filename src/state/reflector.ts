import { isTombstone, type Resource } from "../resource/index.ts";
import { EventType, type Event } from "./event.ts";

/** How a resource differs from what was known of it before. */
export type ReflectedChange<Spec = unknown> =
  | { readonly type: "created"; readonly resource: Resource<Spec>; readonly old?: undefined }
  | { readonly type: "updated"; readonly resource: Resource<Spec>; readonly old: Resource<Spec> }
  /** `resource` is the last known content. */
  | { readonly type: "destroyed"; readonly resource: Resource<Spec>; readonly old?: undefined };

/** Options of a {@link Reflector}. */
export interface ReflectorOptions {
  /** The watch is of one resource: its contents are complete with the first event. Default: false, with `Bootstrapped`. */
  readonly single?: boolean | undefined;
}

/**
 * Folds the events of one watch into the contents that they describe.
 *
 * *Filling* (at first, and after `Resynced`): events are collected until the contents are complete; then come, at once,
 * the changes from what was known before, those that vanished unseen among them. *Live*: each event is a change. So a
 * resync repeats nothing and leaves nothing out, except what came and went within it.
 *
 * The watch must deliver its contents: `bootstrap: true` for a kind.
 */
export class Reflector<Spec = unknown> {
  readonly #single: boolean;
  #contents = new Map<string, Resource<Spec>>();
  /** The contents that are being filled; undefined when live. */
  #filling: Map<string, Resource<Spec>> | undefined = new Map();

  constructor({ single = false }: ReflectorOptions = {}) {
    this.#single = single;
  }

  /** By id, as of the last time they were complete or changed. */
  get contents(): ReadonlyMap<string, Resource<Spec>> {
    return this.#contents;
  }

  /** True unless first contents, or those after a resync, are still coming. */
  get complete(): boolean {
    return this.#filling === undefined;
  }

  /** @returns what the event changes. @throws the error of an `Errored` event. */
  take(event: Event<Spec>): readonly ReflectedChange<Spec>[] {
    switch (event.type) {
      case EventType.created:
      case EventType.updated:
        return this.#put(event.resource);
      case EventType.destroyed:
        return this.#remove(event.resource.metadata.id, isTombstone(event.resource) ? undefined : event.resource);
      case EventType.bootstrapped:
        return this.#filled();
      case EventType.resynced:
        this.#filling = new Map();
        return [];
      case EventType.noop:
        return [];
      case EventType.errored:
        throw event.error;
    }
  }

  #put(resource: Resource<Spec>): readonly ReflectedChange<Spec>[] {
    const { id } = resource.metadata;
    if (this.#filling !== undefined) {
      this.#filling.set(id, resource);
      return this.#single ? this.#filled() : [];
    }
    const old = this.#contents.get(id);
    this.#contents.set(id, resource);
    return old === undefined ? [{ type: "created", resource }] : [{ type: "updated", resource, old }];
  }

  #remove(id: string, last: Resource<Spec> | undefined): readonly ReflectedChange<Spec>[] {
    if (this.#filling !== undefined) {
      this.#filling.delete(id);
      return this.#single ? this.#filled() : [];
    }
    const known = this.#contents.get(id);
    this.#contents.delete(id);
    return known === undefined ? [] : [{ type: "destroyed", resource: last ?? known }];
  }

  #filled(): readonly ReflectedChange<Spec>[] {
    if (this.#filling === undefined) return [];
    const [before, now] = [this.#contents, this.#filling];
    this.#contents = now;
    this.#filling = undefined;
    return [...changesBetween(before, now)];
  }
}

/** What makes `now` of `before`: first what vanished, then what is there. */
function* changesBetween<Spec>(
  before: ReadonlyMap<string, Resource<Spec>>,
  now: ReadonlyMap<string, Resource<Spec>>,
): Iterable<ReflectedChange<Spec>> {
  for (const [id, resource] of before) if (!now.has(id)) yield { type: "destroyed", resource };
  for (const [id, resource] of now) {
    const change = changeOf(before.get(id), resource);
    if (change !== undefined) yield change;
  }
}

/** The change from `old` to `now`; undefined when nothing differs. */
export function changeOf<Spec>(
  old: Resource<Spec> | undefined,
  now: Resource<Spec> | undefined,
): ReflectedChange<Spec> | undefined {
  if (now === undefined) return old && { type: "destroyed", resource: old };
  if (old === undefined) return { type: "created", resource: now };
  return isSameState(old, now) ? undefined : { type: "updated", resource: now, old };
}

/** The same version of the same life. */
function isSameState({ metadata: a }: Resource, { metadata: b }: Resource): boolean {
  return a === b || (a.version === b.version && a.created === b.created);
}
