// What a State of ours is made of: the contents of a kind, its history, the positions and wake-ups of its watchers.
// Start with collection.ts; a State adds where the contents live.
export type { Backend, StoredChange, StoredEvent, StoredKind } from "./backend.ts";
export { GroupCommit, type GroupWrite } from "./group-commit.ts";
export { checkEpoch, createEpoch, type Epoch } from "./bookmark.ts";
export { Collection, type CollectionOptions } from "./collection.ts";
export type { Cursor } from "./cursor.ts";
export { resolveHistoryOptions, type HistoryOptions, type ResolvedHistoryOptions } from "./history-options.ts";
export { openKindCursor, openResourceCursor } from "./open-cursor.ts";
export { BatchWatch, EventWatch } from "./store-watch.ts";
export { createSlices } from "./work-slices.ts";
export { TimestampSource } from "./timestamp-source.ts";
export type { WatcherWakeups } from "./watcher-wakeups.ts";
