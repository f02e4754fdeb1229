import { MemoryState, type MemoryStateOptions } from "../memory/index.ts";
import { TypeRegistry } from "../resource/index.ts";
import { SqliteBackend } from "./sqlite-backend.ts";

/** Changes of each kind that a watch can resume from, in this process and the next ones, unless the options differ. */
const DEFAULT_MAX_CAPACITY = 1_000;

/** Options of {@link sqlite}; each has a default. */
export type SqliteOptions = Omit<MemoryStateOptions, "backend" | "backingStore" | "epoch" | "disposeGraceMs">;

/**
 * A State on a SQLite file, owned by this process as long as it is open. Contents are in memory as well: reads and watches
 * cost what they do in a `MemoryState`. The writes of one turn of the event loop are one transaction, and each settles when
 * that is on disk (`synchronous=FULL`). Bookmarks go on in the processes that come after: the file keeps as many changes of
 * each kind as `history` does, 1,000 by default.
 */
export class SqliteState extends MemoryState {
  /** @throws {StateError} `unavailable` as {@link sqlite}. */
  constructor(path: string, options: SqliteOptions = {}) {
    const { types = [] } = options;
    const registry = types instanceof TypeRegistry ? types : new TypeRegistry(types);
    const history = { maxCapacity: DEFAULT_MAX_CAPACITY, ...options.history };
    super({ ...options, history, types: registry, backend: new SqliteBackend(path, registry) });
  }
}

/**
 * Opens or creates a State on a SQLite file.
 *
 * ```ts
 * await using state = sqlite("./data.db", { types: [Service] });
 * ```
 *
 * Resources of types that it is not given come back opaque when it is opened again. The file is `0600`.
 *
 * @param path - The folder has to exist.
 * @throws {StateError} `unavailable` when another process has it open, which the message names; when it cannot be opened,
 *   is damaged, is no such file, or was written by a later version.
 */
export const sqlite = (path: string, options?: SqliteOptions): SqliteState => new SqliteState(path, options);
