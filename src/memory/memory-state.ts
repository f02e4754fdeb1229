import { NamespaceRouter, WrappedState } from "../state/index.ts";
import { createSharedParts, MemoryNamespace } from "./memory-namespace.ts";
import { resolveMemoryOptions, type MemoryStateOptions } from "./memory-options.ts";

/** A State in the memory of this process: every namespace exists, and is empty until something is created in it. */
export class MemoryState extends WrappedState {
  /** @throws {RangeError} for a history bound out of its range, or an epoch that is not 8 bytes. */
  constructor(options?: MemoryStateOptions) {
    const resolved = resolveMemoryOptions(options);
    const shared = createSharedParts(resolved);
    super(new NamespaceRouter((namespace) => new MemoryNamespace(namespace, resolved, shared)), {
      clock: resolved.clock,
    });
  }
}
