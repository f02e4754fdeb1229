import type { DatabaseSync, StatementSync } from "node:sqlite";
import { ResourceDecoder, ResourceEncoder } from "../protobuf/index.ts";
import { EPOCH, type Kind, type Resource, type TypeRegistry } from "../resource/index.ts";
import type { Backend, Epoch, StoredChange, StoredKind } from "../store/index.ts";
import { closeDatabase, openDatabase, reasonOf } from "./open-database.ts";

/** A {@link Backend} on one SQLite file: each resource as the Resource message, each kind with its count of changes. */
export class SqliteBackend implements Backend {
  readonly epoch: Epoch;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #encoder: ResourceEncoder;
  readonly #decoder: ResourceDecoder;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #count: StatementSync;
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
    this.epoch = Uint8Array.from(this.#database.prepare("SELECT epoch FROM store").get()?.["epoch"] as Uint8Array);
  }

  load(namespace: string): readonly StoredKind[] {
    const kinds = this.#database
      .prepare("SELECT number, type, revision, created FROM kind WHERE namespace = ?")
      .all(namespace) as unknown as { number: number; type: string; revision: number; created: string }[];
    const bodies = this.#database.prepare("SELECT body FROM resource WHERE kind = ? ORDER BY id");
    return kinds.map(({ number, type, revision, created }) => {
      this.#kinds.set(keyOf({ namespace, type }), number);
      const resources: Resource[] = [];
      for (const row of bodies.iterate(number)) {
        // What a schema refuses by now is told to those who read it as one of its type.
        resources.push(this.#decoder.decode(row["body"] as Uint8Array, { lenient: true }));
      }
      return { type, revision, created, resources };
    });
  }

  encode(resource: Resource): Uint8Array {
    return this.#encoder.encode(resource);
  }

  /** @throws {Error} in words when the database refuses: nothing was stored. */
  commit(changes: readonly StoredChange[]): void {
    const added = new Set<string>();
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      for (const change of changes) this.#apply(change, added);
      this.#database.exec("COMMIT");
    } catch (error) {
      for (const key of added) this.#kinds.delete(key);
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw new Error(reasonOf(error, this.#path), { cause: error });
    }
  }

  close(): void {
    closeDatabase(this.#database, this.#path);
  }

  #apply({ kind, id, body, revision, created }: StoredChange, added: Set<string>): void {
    const number = this.#numberOf(kind, added);
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
