import type { Kind, Metadata, Pointer } from "../../resource/index.ts";
import { KindMap } from "../kind-map.ts";

/** What a write left at its address, or an event shows there. */
export type Written = Metadata | "nothing";

/** Resources of a kind whose last writes are remembered, at most. */
const MAX_RESOURCES = 1024;
/** Writes of one resource that are remembered, at most. */
const MAX_WRITES = 64;

interface Write {
  readonly left: Written;
  readonly controller: string;
}

/**
 * Which controller made a change: the writes of controllers to kinds that the writer itself depends on, from the State's
 * response until the event that shows them. What is forgotten counts as a change by somebody else.
 */
export class WriteLedger {
  readonly #kinds = new KindMap<Map<string, Write[]>>();

  /** A controller writes the kind and depends on it. */
  track(kind: Kind): void {
    this.#kinds.ensure({ namespace: kind.namespace, type: kind.type }, () => new Map());
  }

  tracks(namespace: string, type: string): boolean {
    return this.#kinds.get(namespace, type) !== undefined;
  }

  /** A write of a controller has succeeded. */
  add({ namespace, type, id }: Pointer, left: Written, controller: string): void {
    const kind = this.#kinds.get(namespace, type);
    if (kind === undefined) return;
    const writes = kind.get(id);
    if (writes !== undefined) {
      if (writes.length === MAX_WRITES) writes.shift();
      writes.push({ left, controller });
      return;
    }
    if (kind.size === MAX_RESOURCES) {
      const [oldest] = kind.keys();
      if (oldest !== undefined) kind.delete(oldest);
    }
    kind.set(id, [{ left, controller }]);
  }

  /** The controller whose write an event shows, as far as that is known; it is asked once for each event. */
  takeWriter({ namespace, type, id }: Pointer, shown: Written): string | undefined {
    const kind = this.#kinds.get(namespace, type);
    const writes = kind?.get(id);
    const at = writes?.findIndex(({ left }) => isSame(left, shown)) ?? -1;
    if (kind === undefined || writes === undefined || at < 0) return undefined;
    const [write] = writes.splice(at, 1);
    if (writes.length === 0) kind.delete(id);
    return write?.controller;
  }
}

function isSame(a: Written, b: Written): boolean {
  if (a === "nothing" || b === "nothing") return a === b;
  return a.version === b.version && a.created === b.created;
}
