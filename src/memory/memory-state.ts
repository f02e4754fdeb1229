import { GroupCommit, type Backend } from "../store/index.ts";
import { NamespaceRouter, WrappedState } from "../state/index.ts";
import { createSharedParts, MemoryNamespace } from "./memory-namespace.ts";
import { resolveMemoryOptions, type MemoryStateOptions } from "./memory-options.ts";

/** A State in the memory of this process: every namespace exists, and is empty until something is created in it. */
export class MemoryState extends WrappedState {
  readonly #backend: Backend | undefined;
  readonly #group: GroupCommit | undefined;
  #disposal: Promise<void> | undefined;

  /** @throws {RangeError} for a history bound out of its range, or an epoch that is not 8 bytes. */
  constructor(options: MemoryStateOptions = {}) {
    const resolved = resolveMemoryOptions(options);
    const { clock, backend } = resolved;
    const group = backend && new GroupCommit(backend, clock);
    const shared = { ...createSharedParts(resolved), backend, group };
    super(new NamespaceRouter((namespace) => new MemoryNamespace(namespace, resolved, shared)), { clock });
    this.#backend = backend;
    this.#group = group;
  }

  /** Ends all watches, refuses what comes later, and finishes the writes that were called before. Idempotent. */
  override [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= this.#dispose());
  }

  async #dispose(): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#group?.idle();
    await this.#backend?.close();
  }
}
