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

/** Outcomes that are kept for each key. */
const PER_KEY = 8;

interface Entry {
  key: string;
  outcomes: Outcome[];
  newer: Entry | undefined;
  older: Entry | undefined;
}

/** The last outcomes of the keys that ran last: 8 for each key, of a bounded number of keys. */
export class OutcomeLog {
  readonly #mostKeys: number;
  readonly #entries = new Map<string, Entry>();
  #newest: Entry | undefined;
  #oldest: Entry | undefined;

  constructor(mostKeys: number) {
    this.#mostKeys = mostKeys;
  }

  add(key: string, outcome: Outcome): void {
    const entry = this.#entries.get(key) ?? this.#open(key);
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#link(entry);
    }
    if (entry.outcomes.length === PER_KEY) entry.outcomes.shift();
    entry.outcomes.push(outcome);
  }

  /** Oldest first. */
  of(key: string): readonly Outcome[] {
    return [...(this.#entries.get(key)?.outcomes ?? [])];
  }

  get keys(): number {
    return this.#entries.size;
  }

  /** A new entry, made of the oldest one when there are enough. */
  #open(key: string): Entry {
    const oldest = this.#entries.size >= this.#mostKeys ? this.#oldest : undefined;
    const entry = oldest ?? { key, outcomes: [], newer: undefined, older: undefined };
    if (oldest !== undefined) {
      this.#entries.delete(oldest.key);
      oldest.key = key;
      oldest.outcomes = [];
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
