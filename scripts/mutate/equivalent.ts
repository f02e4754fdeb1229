interface EquivalentMutant {
  readonly file: string;
  /** The line on which the change begins, without indentation. */
  readonly line: string;
  readonly replacement: string;
  /** Why no test can tell the difference. */
  readonly reason: string;
}

/**
 * Changes that change nothing a caller could see: work that is done although it could be saved, and checks of what cannot
 * come about. They count neither as found nor as missed. Texts of errors and of the log are none: they count.
 */
export const EQUIVALENT: readonly EquivalentMutant[] = [
  {
    file: "src/store/creation-times.ts",
    line: "if (reading !== this.#reading) this.#read(reading);",
    replacement: "true",
    reason: "reading the same moment again leaves the time as it is; the comparison saves the rounding",
  },
  {
    file: "src/store/watcher-wakeups.ts",
    line: "if (this.#changedIds.size > 0) this.#wakeChangedIds();",
    replacement: "true",
    reason: "waking no watcher does nothing; the comparison saves a map for each turn",
  },
  {
    file: "src/store/collection.ts",
    line: "const old = entry?.resource;",
    replacement: "entry.resource",
    reason: "an update commits in the critical section in which it found the entry; both throw if it is not there",
  },
  {
    file: "src/store/collection.ts",
    line: "return entry?.resource?.metadata.id === id ? entry : this.#entries.get(id);",
    replacement: "entry?.resource.metadata",
    reason: "an entry loses its resource in the commit that also forgets it as the last one located",
  },
  {
    file: "src/state/derive/signal-with-teardown.ts",
    line: "readonly #onParentAbort = (): void => this.#abort(this.#parent?.reason);",
    replacement: "this.#parent.reason",
    reason: "only a parent calls it",
  },
];
