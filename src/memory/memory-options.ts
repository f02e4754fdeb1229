import { SystemClock, type Clock } from "../clock/index.ts";
import { TypeRegistry, type AnyResourceType } from "../resource/index.ts";
import type { OverrunPolicy } from "../state/index.ts";
import {
  checkEpoch,
  createEpoch,
  resolveHistoryOptions,
  type Backend,
  type Epoch,
  type HistoryOptions,
  type ResolvedHistoryOptions,
} from "../store/index.ts";
import type { BackingStore } from "./backing-store.ts";

/** Options of a {@link MemoryState}; each has a default. */
export interface MemoryStateOptions {
  /** Types whose specs are checked on every write; resources of others pass as plain data. Default: none. */
  readonly types?: TypeRegistry | Iterable<AnyResourceType> | undefined;
  readonly history?: HistoryOptions | undefined;
  /** What happens to watchers that fall behind, unless they ask otherwise. Default: `resync`. */
  readonly overrun?: OverrunPolicy | undefined;
  /** Gives the store behind a namespace, or nothing. Default: memory only. */
  readonly backingStore?: ((namespace: string) => BackingStore | undefined) | undefined;
  /**
   * Time that disposal gives a backing store to finish the writes that were called before; then it rejects, and names
   * what may not be stored. May be `Infinity`. Unit: milliseconds. Default: 10 s.
   */
  readonly disposeGraceMs?: number | undefined;
  /**
   * Where the whole State is stored beyond this process, which owns it: see {@link Backend}. Its epoch is the State's.
   * Default: nowhere.
   */
  readonly backend?: Backend | undefined;
  /**
   * What tells the bookmarks of this State from those of others, also of the same program's last run: 8 bytes. A fixed
   * one makes runs repeatable; two States with one epoch accept each other's bookmarks. Default: random.
   */
  readonly epoch?: Uint8Array | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** {@link MemoryStateOptions} with every default filled in. */
export interface ResolvedMemoryOptions {
  readonly types: TypeRegistry;
  readonly history: ResolvedHistoryOptions;
  readonly overrun: OverrunPolicy;
  readonly backingStore: (namespace: string) => BackingStore | undefined;
  readonly disposeGraceMs: number;
  readonly epoch: Epoch;
  readonly backend: Backend | undefined;
  readonly clock: Clock;
}

/** @throws {RangeError} for a capacity, gap, size or time out of its range, or an epoch that is not 8 bytes. */
export function resolveMemoryOptions(options: MemoryStateOptions = {}): ResolvedMemoryOptions {
  const { types = [], overrun = "resync", backingStore = () => undefined, clock = new SystemClock() } = options;
  if (overrun !== "resync" && overrun !== "error") {
    throw new RangeError(`overrun must be "resync" or "error", got ${JSON.stringify(overrun)}`);
  }
  const { backend, epoch = backend?.epoch ?? createEpoch(), disposeGraceMs = 10_000 } = options;
  if (!(disposeGraceMs >= 0)) {
    throw new RangeError(`disposeGraceMs must be a number of milliseconds, at least 0, got ${disposeGraceMs}`);
  }
  checkEpoch(epoch);
  return {
    types: types instanceof TypeRegistry ? types : new TypeRegistry(types),
    history: resolveHistoryOptions(options.history),
    overrun,
    backingStore,
    disposeGraceMs,
    epoch: Uint8Array.from(epoch),
    backend,
    clock,
  };
}
