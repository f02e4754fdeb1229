/** How one run ended. */
export interface Outcome {
  readonly kind: "done" | "skipped" | "requeued" | "failed";
  /** Wall-clock time of its end, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly tookMs: number;
  /** Why it was skipped, or what it failed with. */
  readonly reason?: string | undefined;
  /** When it is to run again, counted from its end. */
  readonly againAfterMs?: number | undefined;
}

/** Outcomes that are told of each key, at most. */
const PER_KEY = 8;
/** Plain successes that are remembered, of all keys together. */
const SUCCESSES = 1024;

interface Noted {
  readonly order: number;
  readonly outcome: Outcome;
}

interface Entry {
  key: string;
  noted: Noted[];
  newer: Entry | undefined;
  older: Entry | undefined;
}

/**
 * The last outcomes of the keys that ran last.
 *
 * Successes, which are most, go to a ring that all keys share; a success costs next to nothing. What a person will ask
 * about, failures and the like, is kept by key, for a bounded number of keys: a key that runs all the time does not
 * push out the others.
 */
export class OutcomeLog {
  readonly #mostKeys: number;
  readonly #entries = new Map<string, Entry>();
  #newest: Entry | undefined;
  #oldest: Entry | undefined;
  #order = 0;
  /** Made with the first success. Slot `n` of the ring belongs to the success number `n`, modulo its size. */
  #successes:
    | { readonly keys: string[]; readonly orders: Float64Array; readonly at: Float64Array; readonly took: Float64Array }
    | undefined;
  #succeeded = 0;

  /** @param mostKeys - Keys whose outcomes other than success are kept. */
  constructor(mostKeys: number) {
    this.#mostKeys = mostKeys;
  }

  /** Notes a plain success. */
  succeeded(key: string, atMs: number, tookMs: number): void {
    const ring = (this.#successes ??= {
      keys: [],
      orders: new Float64Array(SUCCESSES),
      at: new Float64Array(SUCCESSES),
      took: new Float64Array(SUCCESSES),
    });
    const slot = this.#succeeded++ % SUCCESSES;
    ring.keys[slot] = key;
    ring.orders[slot] = this.#order++;
    ring.at[slot] = atMs;
    ring.took[slot] = tookMs;
  }

  /** Notes any other outcome. */
  add(key: string, outcome: Outcome): void {
    const entry = this.#entries.get(key) ?? this.#open(key);
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#link(entry);
    }
    if (entry.noted.length === PER_KEY) entry.noted.shift();
    entry.noted.push({ order: this.#order++, outcome });
  }

  /** The last eight that are known, oldest first. */
  of(key: string): readonly Outcome[] {
    const noted = [...(this.#entries.get(key)?.noted ?? []), ...this.#successesOf(key)];
    noted.sort((a, b) => a.order - b.order);
    return noted.slice(-PER_KEY).map(({ outcome }) => outcome);
  }

  #successesOf(key: string): Noted[] {
    const ring = this.#successes;
    if (ring === undefined) return [];
    const noted: Noted[] = [];
    ring.keys.forEach((other, slot) => {
      if (other !== key) return;
      const outcome = { kind: "done", atMs: ring.at[slot] ?? 0, tookMs: ring.took[slot] ?? 0 } as const;
      noted.push({ order: ring.orders[slot] ?? 0, outcome });
    });
    return noted;
  }

  /** A new entry, made of the oldest one when there are enough. */
  #open(key: string): Entry {
    const oldest = this.#entries.size >= this.#mostKeys ? this.#oldest : undefined;
    const entry = oldest ?? { key, noted: [], newer: undefined, older: undefined };
    if (oldest !== undefined) {
      this.#entries.delete(oldest.key);
      oldest.key = key;
      oldest.noted = [];
    }
    this.#entries.set(key, entry);
    return entry;
  }

  #link(entry: Entry): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
    this.#oldest ??= entry;
  }

  #unlink(entry: Entry): void {
    if (entry.older !== undefined) entry.older.newer = entry.newer;
    if (entry.newer !== undefined) entry.newer.older = entry.older;
    if (this.#oldest === entry) this.#oldest = entry.newer;
    if (this.#newest === entry) this.#newest = entry.older;
  }
}
