import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { MemoryState } from "../memory/index.ts";
import { StateError, type Resource } from "../resource/index.ts";
import { Int } from "../testing/index.ts";
import type { Backend, StoredChange, StoredKind } from "./backend.ts";

/** A backend that does with each group what the test says. */
class ScriptedBackend implements Backend {
  readonly epoch: Uint8Array = new Uint8Array(8);
  readonly groups: (readonly StoredChange[])[] = [];
  closed = 0;
  onCommit: () => void | Promise<void> = () => undefined;

  load(): readonly StoredKind[] {
    return [];
  }

  encode({ metadata }: Resource): Uint8Array {
    return new TextEncoder().encode(metadata.id);
  }

  commit(changes: readonly StoredChange[]): void | Promise<void> {
    this.groups.push(changes);
    return this.onCommit();
  }

  close(): void {
    this.closed++;
  }
}

const create = (state: MemoryState, id: string): Promise<unknown> => state.create(Int.create(id, { value: 1 }));
/** Lets everything run that needs no time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

const outcomes = async (...writes: readonly Promise<unknown>[]): Promise<readonly string[]> =>
  (await Promise.allSettled(writes)).map((one) =>
    one.status === "fulfilled" ? "done" : (one.reason as Error).message,
  );

describe("a group of writes", () => {
  test("is what one turn has written, with its numbers, in order", async () => {
    const backend = new ScriptedBackend();
    await using state = new MemoryState({ backend });
    await Promise.all([create(state, "a"), create(state, "b"), state.destroy(Int.ref("a"))]);
    await create(state, "c");
    const told = backend.groups.map((group) =>
      group.map(({ id, revision, body }) => [id, revision, body !== undefined]),
    );
    expect(told).toEqual([
      [
        ["a", 1, true],
        ["b", 2, true],
        ["a", 3, false],
      ],
      [["c", 4, true]],
    ]);
  });

  test("that fails is taken back as a whole, before anybody has seen it; what comes next is stored", async () => {
    const backend = new ScriptedBackend();
    await using state = new MemoryState({ backend });
    await using watch = await state.watchKind(Int);
    backend.onCommit = () => {
      throw new Error("the disk is full");
    };
    expect(await outcomes(create(state, "a"), create(state, "b"))).toEqual([
      "the create of test/int(default/a) is not stored: the disk is full",
      "the create of test/int(default/b) is not stored: the disk is full",
    ]);
    backend.onCommit = () => undefined;
    await create(state, "a");
    expect((await watch.next()).value).toMatchObject({ type: "Created", resource: { metadata: { id: "a" } } });
    expect(backend.groups.at(-1)).toMatchObject([{ id: "a", revision: 1 }]);
    expect(await state.list(Int)).toHaveLength(1);
  });

  test("whose outcome is not known says so", async () => {
    const backend = new ScriptedBackend();
    await using state = new MemoryState({ backend });
    backend.onCommit = () => Promise.reject(new StateError("unavailable", "the connection broke"));
    expect(await outcomes(create(state, "a"))).toEqual([
      "the create of test/int(default/a) may not be stored: the connection broke",
    ]);
  });

  test("waits for the one before it, and is not seen before it is stored", async () => {
    const backend = new ScriptedBackend();
    const state = new MemoryState({ backend });
    const slow = Promise.withResolvers<void>();
    backend.onCommit = () => slow.promise;
    const first = create(state, "a");
    await turns();
    backend.onCommit = () => undefined;
    const second = create(state, "b");
    await turns();
    expect(backend.groups).toHaveLength(1);
    expect(await state.list(Int)).toHaveLength(0);
    const closing = state[Symbol.asyncDispose]();
    slow.resolve();
    expect(await outcomes(first, second, closing)).toEqual(["done", "done", "done"]);
    expect([backend.groups.length, backend.closed]).toEqual([2, 1]);
  });

  test("holds a thousand at most", async () => {
    const backend = new ScriptedBackend();
    await using state = new MemoryState({ backend, clock: new ManualClock() });
    await Promise.all(Array.from({ length: 2_500 }, (_, n) => create(state, `i${n}`)));
    expect(backend.groups.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  });
});
