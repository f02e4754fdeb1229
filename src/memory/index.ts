export type { BackingStore } from "./backing-store.ts";
export { MemoryNamespace } from "./memory-namespace.ts";
export type { HistoryOptions, MemoryStateOptions } from "./memory-options.ts";
export { MemoryState } from "./memory-state.ts";
