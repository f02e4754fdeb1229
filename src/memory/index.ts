// The in-memory State, and the hook for a backing store that persists it.
// Start with memory-namespace.ts; all that is not special to memory is in store/.
export type { BackingStore } from "./backing-store.ts";
export { MemoryNamespace } from "./memory-namespace.ts";
export type { MemoryStateOptions } from "./memory-options.ts";
export { MemoryState } from "./memory-state.ts";
