import { createTombstone, patchMetadata, type Resource } from "../../src/resource/index.ts";
import { EventType, type Event } from "../../src/state/index.ts";
import { Int, type IntSpec } from "../../src/testing/index.ts";
import { bookmarkAt } from "./scripted-wire.ts";

/** A stored number. */
export function int(id: string, value: number, version = 1, labels: Record<string, string> = {}): Resource<IntSpec> {
  return patchMetadata(Int.create(id, { value }, { labels }), { version: String(version) });
}

/** @param position - Where it stands in the history; undefined for initial contents, which have no place. */
export const created = (resource: Resource, position?: number): Event => ({
  type: EventType.created,
  resource,
  bookmark: position === undefined ? undefined : bookmarkAt(position),
});

export const updated = (old: Resource, resource: Resource, position: number): Event => ({
  type: EventType.updated,
  resource,
  old,
  bookmark: bookmarkAt(position),
});

export const absent = (id: string): Event => ({
  type: EventType.destroyed,
  resource: createTombstone(Int.ref(id)),
});

const marker = createTombstone({ namespace: Int.namespace, type: Int.type, id: "" });

export const bootstrapped = (position: number): Event => ({
  type: EventType.bootstrapped,
  resource: marker,
  bookmark: bookmarkAt(position),
});

export const noop = (position: number): Event => ({
  type: EventType.noop,
  resource: marker,
  bookmark: bookmarkAt(position),
});

export const errored = (text: string): Event => ({ type: EventType.errored, error: new Error(text) });
