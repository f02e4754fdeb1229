import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { messageOf, readForeign } from "../internal/foreign-value.ts";
import { StateError } from "../resource/index.ts";
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from "./schema.ts";

/** A lock that is held by a process that ends just now is waited for. Unit: milliseconds. */
const BUSY_MS = 500;

/** Primary result codes of SQLite, the low byte of `errcode`. */
const Code = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** A database that this process alone has, until it is closed. */
export function openDatabase(path: string): DatabaseSync {
  const isNew = !existsSync(path);
  if (!isNew && !statSync(path).isFile()) throw unavailable(path, "it is no file");
  let database: DatabaseSync | undefined;
  try {
    // Before SQLite makes it, so that no other user can read it at any time.
    if (isNew) closeSync(openSync(path, "a", 0o600));
    database = new DatabaseSync(path, { timeout: BUSY_MS });
    takeOver(database, path);
    writeFileSync(ownerPath(path), JSON.stringify({ pid: process.pid }), { mode: 0o600 });
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof StateError ? error : unavailable(path, reasonOf(error, path), error);
  }
}

/** Closes it; what else is on disk beside the file is gone then. */
export function closeDatabase(database: DatabaseSync, path: string): void {
  rmSync(ownerPath(path), { force: true });
  database.close();
}

/** Exclusive locking holds the file from the first transaction on, and dies with the process. */
function takeOver(database: DatabaseSync, path: string): void {
  database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF");
  database.exec("BEGIN IMMEDIATE");
  const version = numberOf(database, "user_version");
  const application = numberOf(database, "application_id");
  const tables = numberOf(database, "schema_version");
  if (application !== APPLICATION_ID && tables > 0) throw unavailable(path, "it is the database of another program");
  if (version > SCHEMA_VERSION) {
    const text = `it has the form ${version} of a later version of Homeostat, this one knows ${SCHEMA_VERSION}`;
    throw unavailable(path, text);
  }
  migrate(database, version);
  database.exec("COMMIT");
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const [check] = database.prepare("PRAGMA quick_check(1)").all();
  const found = check?.["quick_check"];
  if (found !== "ok") throw unavailable(path, `it is damaged: ${String(found)}`);
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma] ?? 0);

const codeOf = (error: unknown): number => Number(readForeign(error, "errcode")) & 0xff;

/** What the disk refused may be on it all the same, and come back after a crash. */
export const isOutcomeOpen = (error: unknown): boolean => codeOf(error) === Code.ioError;

/** Why SQLite refuses, in words. */
export function reasonOf(error: unknown, path: string): string {
  const text = messageOf(error);
  switch (codeOf(error)) {
    case Code.busy:
    case Code.locked:
      return `another process has it open${ownerOf(path)}; it can be used through the address at which that one serves`;
    case Code.readOnly:
      return "it is read-only";
    case Code.full:
      return "the disk is full";
    case Code.corrupt:
      return `it is damaged: ${text}`;
    case Code.notADatabase:
      return "it is no SQLite database";
    case Code.cannotOpen:
      return "it cannot be opened; does its folder exist, and may this user write there?";
    default:
      return text;
  }
}

/** Says who, as far as is known: the file beside it is for this message alone, and no lock. */
function ownerOf(path: string): string {
  try {
    const { pid } = JSON.parse(readFileSync(ownerPath(path), "utf8")) as { readonly pid?: unknown };
    return typeof pid === "number" ? `: pid ${pid}` : "";
  } catch {
    return "";
  }
}

const ownerPath = (path: string): string => `${path}-owner`;

function unavailable(path: string, reason: string, cause?: unknown): StateError {
  return new StateError("unavailable", `the State in ${path} cannot be opened: ${reason}`, { cause });
}
