import type { Clock } from "../clock/index.ts";
import { messageOf } from "../internal/foreign-value.ts";
import { formatPointer, hasCode, StateError, type Pointer, type Resource } from "../resource/index.ts";
import type { Backend, StoredChange } from "./backend.ts";
import type { Collection } from "./collection.ts";

/** A write that waits for its group. */
export interface GroupWrite {
  readonly collection: Collection;
  readonly pointer: Pointer;
  readonly operation: "create" | "update" | "destroy";
  /** Checks it against what the group has made of the contents so far; gives what to store, or what to destroy. */
  prepare(): Resource;
  /** Makes it visible. */
  commit(stored: Resource): void;
}

/** Writes that are stored together, at most: a commit may hold up everything else in the process. */
const MAX_GROUP = 1_000;

interface Waiting {
  readonly write: GroupWrite;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (stored: Resource) => void;
  readonly reject: (error: unknown) => void;
}

interface Prepared extends Waiting {
  readonly stored: Resource;
  readonly body: Uint8Array | undefined;
}

/**
 * Collects the writes of one turn of the event loop and stores them together. Each is checked against those before it, is
 * visible only when it is stored, and settles then. One that is refused takes no other along; a commit that fails takes
 * all of its group.
 */
export class GroupCommit {
  readonly #backend: Backend;
  readonly #clock: Pick<Clock, "defer">;
  readonly #waiting: Waiting[] = [];
  #isScheduled = false;
  /** The commit that is under way; resolves whatever comes of it. */
  #committing: Promise<void> | undefined;

  constructor(backend: Backend, clock: Pick<Clock, "defer">) {
    this.#backend = backend;
    this.#clock = clock;
  }

  /** @throws {StateError} what the check of the write found; `unavailable` when its group could not be stored. */
  write(write: GroupWrite, signal: AbortSignal | undefined): Promise<Resource> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, signal, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when all that was written has ended. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#committing !== undefined) {
      if (this.#committing === undefined) this.#flush();
      await this.#committing;
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#committing !== undefined) return;
    this.#isScheduled = true;
    this.#clock.defer(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#committing !== undefined || this.#waiting.length === 0) return;
    const group = this.#prepare();
    if (group.length > 0) this.#commit(group);
    if (this.#waiting.length > 0) this.#schedule();
  }

  #commit(group: readonly Prepared[]): void {
    let stored: void | Promise<void>;
    try {
      stored = this.#backend.commit(changesOf(group));
    } catch (error) {
      this.#failed(group, error);
      return;
    }
    if (stored === undefined) {
      succeeded(group);
      return;
    }
    this.#committing = stored
      .then(
        () => succeeded(group),
        (error: unknown) => this.#failed(group, error),
      )
      .finally(() => {
        this.#committing = undefined;
        if (this.#waiting.length > 0) this.#schedule();
      });
  }

  #prepare(): readonly Prepared[] {
    const waiting = this.#waiting.splice(0, MAX_GROUP);
    const group: Prepared[] = [];
    for (const one of waiting) {
      const { write, signal, reject } = one;
      try {
        signal?.throwIfAborted();
        const stored = write.prepare();
        const isEnd = write.operation === "destroy";
        const body = isEnd ? undefined : this.#backend.encode(stored);
        write.collection.stage(write.pointer.id, isEnd ? undefined : stored);
        group.push({ ...one, stored, body });
      } catch (error) {
        reject(error);
      }
    }
    return group;
  }

  #failed(group: readonly Prepared[], cause: unknown): void {
    for (const { write } of group) write.collection.unstage();
    for (const { write, reject } of group) {
      const { operation, pointer } = write;
      const outcome = hasCode(cause, "unavailable") ? "may not be stored" : "is not stored";
      const text = `the ${operation} of ${formatPointer(pointer)} ${outcome}: ${messageOf(cause)}`;
      reject(new StateError("unavailable", text, { pointer, cause }));
    }
  }
}

function changesOf(group: readonly Prepared[]): readonly StoredChange[] {
  const revisions = new Map<Collection, number>();
  return group.map(({ write, stored, body }) => {
    const { collection } = write;
    const revision = (revisions.get(collection) ?? collection.history.written) + 1;
    revisions.set(collection, revision);
    return {
      kind: collection.kind,
      id: stored.metadata.id,
      revision,
      body,
      created: collection.times.last,
      floor: collection.history.oldestReadable,
    };
  });
}

/** In the order in which they were called: that is the order of their events. */
function succeeded(group: readonly Prepared[]): void {
  for (const { write } of group) write.collection.unstage();
  for (const { write, stored, resolve } of group) {
    write.commit(stored);
    resolve(stored);
  }
}
