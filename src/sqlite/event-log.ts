import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Resource } from "../resource/index.ts";
import type { StoredChange, StoredEvent } from "../store/index.ts";

/** Entries that none can read go after so many changes of their kind, together. */
const COMPACT_EVERY = 256;

interface Row {
  readonly revision: number;
  readonly id: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

/** What {@link EventLog.read} needs of the kind. */
interface ReadOptions {
  /** Number of its last change. */
  readonly revision: number;
  /** Entries to read, at most. */
  readonly count: number;
  /** Its contents: what the last entries left is theirs, and not made twice. */
  readonly resources: readonly Resource[];
  readonly decode: (body: Uint8Array) => Resource;
}

/** The latest changes of each kind, by their numbers. They are written within the transactions of others. */
export class EventLog {
  readonly #append: StatementSync;
  readonly #compact: StatementSync;
  readonly #latest: StatementSync;

  constructor(database: DatabaseSync) {
    this.#append = database.prepare(`
      INSERT INTO event (kind, revision, id, before, after)
      VALUES (?1, ?2, ?3, (SELECT body FROM resource WHERE kind = ?1 AND id = ?3), ?4)`);
    this.#compact = database.prepare("DELETE FROM event WHERE kind = ? AND revision <= ?");
    this.#latest = database.prepare(
      "SELECT revision, id, before, after FROM event WHERE kind = ? AND revision > ? ORDER BY revision DESC",
    );
  }

  /** Before the change itself: what is there until then goes into the entry. */
  append(kind: number, { revision, id, body, floor }: StoredChange): void {
    this.#append.run(kind, revision, id, body ?? null);
    if (revision % COMPACT_EVERY === 0) this.#compact.run(kind, floor);
  }

  /** Oldest first; undefined when the entries do not lead up to the last change without a gap. */
  read(kind: number, { revision, count, resources, decode }: ReadOptions): readonly StoredEvent[] | undefined {
    const rows = this.#latest.all(kind, revision - count) as unknown as readonly Row[];
    const ids = new Set(rows.map(({ id }) => id));
    /** What is there after the entry that is looked at, going back from the present contents. */
    const present = new Map<string, Resource>();
    for (const resource of resources) if (ids.has(resource.metadata.id)) present.set(resource.metadata.id, resource);
    const events: StoredEvent[] = [];
    for (const row of rows) {
      if (row.revision !== revision - events.length) return undefined;
      const after = row.after === null ? undefined : present.get(row.id);
      const before = row.before === null ? undefined : decode(row.before);
      const event = eventOf(before, after);
      if (event === undefined) return undefined;
      events.push(event);
      if (before === undefined) present.delete(row.id);
      else present.set(row.id, before);
    }
    return events.reverse();
  }
}

function eventOf(before: Resource | undefined, after: Resource | undefined): StoredEvent | undefined {
  if (after !== undefined) return { type: before === undefined ? "Created" : "Updated", resource: after, old: before };
  return before && { type: "Destroyed", resource: before, old: undefined };
}
