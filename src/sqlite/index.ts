// A State on a SQLite file, owned by one process. Start with sqlite-state.ts.
export { sqlite, SqliteState, type SqliteOptions } from "./sqlite-state.ts";
