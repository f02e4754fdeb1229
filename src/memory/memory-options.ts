import { SystemClock, type Clock } from "../clock/index.ts";
import { TypeRegistry, type AnyResourceType } from "../resource/index.ts";
import type { OverrunPolicy } from "../state/index.ts";
import type { BackingStore } from "./backing-store.ts";

/** Bounds of the event history that each kind keeps for its watchers. */
export interface HistoryOptions {
  /** Events that fit before the history first grows. Default: 100. Raises `maxCapacity` when larger. */
  readonly initialCapacity?: number | undefined;
  /** Events that are kept at most. Default: 100, or `initialCapacity` when that is larger. */
  readonly maxCapacity?: number | undefined;
  /** Oldest events that new watchers may not start at, since they are about to go. Unit: events. Default: 5 % of `maxCapacity`. */
  readonly gap?: number | undefined;
  /** Memory that the events of one kind may keep alive, estimated. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
}

export interface MemoryStateOptions {
  /** Types whose specs are checked on every write; resources of others pass as plain data. Default: none. */
  readonly types?: TypeRegistry | Iterable<AnyResourceType> | undefined;
  readonly history?: HistoryOptions | undefined;
  /** What happens to watchers that fall behind, unless they ask otherwise. Default: `resync`. */
  readonly overrun?: OverrunPolicy | undefined;
  /** Gives the store behind a namespace, or nothing. Default: memory only. */
  readonly backingStore?: ((namespace: string) => BackingStore | undefined) | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** {@link MemoryStateOptions} with every default filled in. */
export interface ResolvedMemoryOptions {
  readonly types: TypeRegistry;
  readonly history: Readonly<Record<"initialCapacity" | "maxCapacity" | "gap" | "maxBytes", number>>;
  readonly overrun: OverrunPolicy;
  readonly backingStore: (namespace: string) => BackingStore | undefined;
  readonly clock: Clock;
}

const DEFAULT_CAPACITY = 100;
const DEFAULT_MAX_BYTES = 64 * 2 ** 20;

/** @throws {RangeError} for a capacity, gap or size that is no whole number of its range. */
export function resolveMemoryOptions(options: MemoryStateOptions = {}): ResolvedMemoryOptions {
  const { types = [], overrun = "resync", backingStore = () => undefined, clock = new SystemClock() } = options;
  if (overrun !== "resync" && overrun !== "error") {
    throw new RangeError(`overrun must be "resync" or "error", got ${JSON.stringify(overrun)}`);
  }
  return {
    types: types instanceof TypeRegistry ? types : new TypeRegistry(types),
    history: resolveHistory(options.history),
    overrun,
    backingStore,
    clock,
  };
}

function resolveHistory(options: HistoryOptions = {}): ResolvedMemoryOptions["history"] {
  const initialCapacity = whole(
    "history.initialCapacity",
    1,
    options.initialCapacity ?? Math.min(DEFAULT_CAPACITY, options.maxCapacity ?? DEFAULT_CAPACITY),
  );
  const maxCapacity = Math.max(
    initialCapacity,
    whole("history.maxCapacity", 1, options.maxCapacity ?? DEFAULT_CAPACITY),
  );
  const gap = whole("history.gap", 0, options.gap ?? Math.floor(maxCapacity / 20));
  if (gap >= maxCapacity)
    throw new RangeError(`history.gap must be smaller than the capacity of ${maxCapacity}, got ${gap}`);
  return {
    initialCapacity,
    maxCapacity,
    gap,
    maxBytes: whole("history.maxBytes", 1, options.maxBytes ?? DEFAULT_MAX_BYTES),
  };
}

function whole(name: string, least: number, value: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be a whole number of at least ${least}, got ${value}`);
}
