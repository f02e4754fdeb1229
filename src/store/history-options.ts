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

/** {@link HistoryOptions} with every default filled in. */
export type ResolvedHistoryOptions = Readonly<Record<keyof HistoryOptions, number>>;

const DEFAULT_CAPACITY = 100;
const DEFAULT_MAX_BYTES = 64 * 2 ** 20;

/** @throws {RangeError} for a capacity, gap or size that is no whole number of its range. */
export function resolveHistoryOptions(options: HistoryOptions = {}): ResolvedHistoryOptions {
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
