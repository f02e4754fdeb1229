import type { DatabaseSync, StatementSync } from "node:sqlite";
import { ResourceDecoder, ResourceEncoder } from "../protobuf/index.ts";
import { EPOCH, StateError, type Kind, type Resource, type TypeRegistry } from "../resource/index.ts";
import type { Backend, Epoch, StoredChange, StoredKind } from "../store/index.ts";
import { EventLog } from "./event-log.ts";
import { closeDatabase, isOutcomeOpen, openDatabase, reasonOf } from "./open-database.ts";

/**
 * A {@link Backend} on one SQLite file: each resource as the Resource message, each kind with its count of changes and the
 * latest of them.
 */
export class SqliteBackend implements Backend {
  readonly epoch: Epoch;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #encoder: ResourceEncoder;
  readonly #decoder: ResourceDecoder;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #count: StatementSync;
  readonly #log: EventLog;
  /** Numbers of kinds, by namespace and type. */
  readonly #kinds = new Map<string, number>();

  constructor(path: string, types: TypeRegistry) {
    this.#path = path;
    this.#database = openDatabase(path);
    // Values of known types come back by their codec; of the others all is kept that a peer could make of them.
    this.#encoder = new ResourceEncoder({ yaml: (type) => types.get(type) === undefined, keep: false });
    this.#decoder = new ResourceDecoder(types);
    this.#put = this.#database.prepare("INSERT OR REPLACE INTO resource (kind, id, body) VALUES (?, ?, ?)");
    this.#delete = this.#database.prepare("DELETE FROM resource WHERE kind = ? AND id = ?");
    this.#count = this.#database.prepare("UPDATE kind SET revision = ?, created = ? WHERE number = ?");
    this.#log = new EventLog(this.#database);
    this.epoch = Uint8Array.from(this.#database.prepare("SELECT epoch FROM store").get()?.["epoch"] as Uint8Array);
  }

  load(namespace: string, events: number): readonly StoredKind[] {
    const kinds = this.#database
      .prepare("SELECT number, type, revision, created FROM kind WHERE namespace = ?")
      .all(namespace) as unknown as { number: number; type: string; revision: number; created: string }[];
    const bodies = this.#database.prepare("SELECT body FROM resource WHERE kind = ? ORDER BY id");
    return kinds.map(({ number, type, revision, created }) => {
      this.#kinds.set(keyOf({ namespace, type }), number);
      // What a schema refuses by now is told to those who read it as one of its type.
      const decode = (body: Uint8Array): Resource => this.#decoder.decode(body, { lenient: true });
      const resources: Resource[] = [];
      for (const row of bodies.iterate(number)) resources.push(decode(row["body"] as Uint8Array));
      const log = this.#log.read(number, { revision, count: events, resources, decode });
      if (log === undefined) {
        const text = `the log of ${type} in ${JSON.stringify(namespace)} in ${this.#path} does not lead up to its change ${revision}`;
        throw new StateError("unavailable", text);
      }
      return { type, revision, created, resources, events: log };
    });
  }

  encode(resource: Resource): Uint8Array {
    return this.#encoder.encode(resource);
  }

  /**
   * @throws {Error} in words when the database refuses: nothing was stored. {@link StateError} `unavailable` when the disk
   *   left that open.
   */
  commit(changes: readonly StoredChange[]): void {
    const added = new Set<string>();
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      for (const change of changes) this.#apply(change, added);
      this.#database.exec("COMMIT");
    } catch (error) {
      for (const key of added) this.#kinds.delete(key);
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      const reason = reasonOf(error, this.#path);
      if (!this.#emptyWal() && isOutcomeOpen(error)) throw new StateError("unavailable", reason, { cause: error });
      throw new Error(reason, { cause: error });
    }
  }

  close(): void {
    closeDatabase(this.#database, this.#path);
  }

  /** Gives the space of the write-ahead log back, and with it what is left of a commit that failed. */
  #emptyWal(): boolean {
    try {
      return this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0;
    } catch {
      // There is no room for that either: the next commit is tried all the same.
      return false;
    }
  }

  #apply(change: StoredChange, added: Set<string>): void {
    const { kind, id, body, revision, created } = change;
    const number = this.#numberOf(kind, added);
    this.#log.append(number, change);
    if (body === undefined) this.#delete.run(number, id);
    else this.#put.run(number, id, body);
    this.#count.run(revision, created, number);
  }

  #numberOf(kind: Kind, added: Set<string>): number {
    const key = keyOf(kind);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO kind (namespace, type, revision, created) VALUES (?, ?, 0, ?)")
      .run(kind.namespace, kind.type, EPOCH);
    const number = Number(lastInsertRowid);
    this.#kinds.set(key, number);
    added.add(key);
    return number;
  }
}

const keyOf = ({ namespace, type }: Kind): string => `${namespace}\0${type}`;
