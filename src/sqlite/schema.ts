import type { DatabaseSync } from "node:sqlite";
import { createEpoch } from "../store/index.ts";

/** Marks a file as ours, in its header: "HMST". */
export const APPLICATION_ID = 0x484d5354;

/** What takes a file from one version to the next; the number of the version is that of the steps. */
const MIGRATIONS: readonly ((database: DatabaseSync) => void)[] = [
  (database) => {
    database.exec(`
      CREATE TABLE store (epoch BLOB NOT NULL) STRICT;
      CREATE TABLE kind (
        number INTEGER PRIMARY KEY,
        namespace TEXT NOT NULL,
        type TEXT NOT NULL,
        revision INTEGER NOT NULL,
        created TEXT NOT NULL,
        UNIQUE (namespace, type)
      ) STRICT;
      CREATE TABLE resource (
        kind INTEGER NOT NULL REFERENCES kind (number),
        id TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (kind, id)
      ) STRICT, WITHOUT ROWID;
    `);
    database.prepare("INSERT INTO store (epoch) VALUES (?)").run(createEpoch());
  },
  (database) => {
    // Without `before` something was created, without `after` destroyed.
    database.exec(`
      CREATE TABLE event (
        kind INTEGER NOT NULL REFERENCES kind (number),
        revision INTEGER NOT NULL,
        id TEXT NOT NULL,
        before BLOB,
        after BLOB,
        PRIMARY KEY (kind, revision)
      ) STRICT, WITHOUT ROWID;
    `);
  },
];

/** The version that this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** Brings a file up to date, in one transaction with the number of its version: safe to run twice. */
export function migrate(database: DatabaseSync, from: number): void {
  if (from === SCHEMA_VERSION) return;
  for (const step of MIGRATIONS.slice(from)) step(database);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
}
