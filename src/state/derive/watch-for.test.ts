import { describe, expect, test } from "vitest";
import { MemoryNamespace, MemoryState } from "../../memory/index.ts";
import { createTombstone, isTombstone, patchMetadata, Phase, type Resource } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import type { WatchCondition } from "../state.ts";
import { wrapState } from "../wrap-state.ts";

const ref = Int.ref("one");
const code = (expected: string) => expect.objectContaining({ code: expected });

describe("watchFor", () => {
  test("without a condition takes the present state, a missing resource included", async () => {
    await using state = new MemoryState();
    const missing = await state.watchFor(ref);
    expect(isTombstone(missing)).toBe(true);
    expect(missing.metadata).toMatchObject(ref);
    const created = await state.create(Int.create("one", { value: 1 }));
    expect(await state.watchFor(ref)).toBe(created);
  });

  test("waits for the first event that meets all parts of the condition", async () => {
    await using state = new MemoryState({ types: [Int] });
    const found = state.watchFor(Int, "one", {
      events: ["Updated"],
      phases: [Phase.tearingDown],
      finalizersEmpty: true,
      where: ({ metadata }) => metadata.labels["ready"] === "yes",
    });
    await state.create(Int.create("one", { value: 1 }, { finalizers: ["f"], labels: { ready: "yes" } }));
    await state.teardown(ref);
    await state.removeFinalizer(ref, "f");
    const answer = await found;
    expect(answer.metadata).toMatchObject({ version: "3", phase: Phase.tearingDown, finalizers: [] });
    expect(answer).toBe(await state.get(ref));
  });

  test("a resource that is destroyed has no finalizers to be free of", async () => {
    await using state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }));
    const free = state.watchFor(ref, { finalizersEmpty: true, where: ({ metadata }) => metadata.labels["x"] === "y" });
    await state.destroy(ref);
    const again = await state.create(Int.create("one", { value: 1 }, { labels: { x: "y" } }));
    expect(await free).toBe(again);
  });

  test("what the predicate throws ends the wait; the predicate sees tombstones [state 182]", async () => {
    await using state = new MemoryState();
    const seen: unknown[] = [];
    const refusal = new Error("that is no resource");
    const where: WatchCondition["where"] = (resource) => {
      seen.push(resource);
      if (isTombstone(resource)) throw refusal;
      return true;
    };
    await expect(state.watchFor(ref, { where })).rejects.toBe(refusal);
    await expect(state.watchFor(ref, { where: async (resource) => where(resource) })).rejects.toBe(refusal);
    expect(seen).toHaveLength(2);
    expect(seen.every(isTombstone)).toBe(true);
    expect(() => (seen[0] as { spec: unknown }).spec).toThrow(/no spec/);

    await state.create(Int.create("one", { value: 1 }));
    expect((await state.watchFor(ref, { where })).metadata.id).toBe("one");
  });

  test("the predicate runs only for events of the wanted types", async () => {
    await using state = new MemoryState();
    let runs = 0;
    const found = state.watchFor(ref, { events: ["Created"], where: () => ++runs > 0 });
    await state.create(Int.create("one", { value: 1 }));
    await found;
    expect(runs).toBe(1);
  });

  test.for([
    ["no event", { events: [] }],
    ["an event that carries no resource", { events: ["Bootstrapped"] }],
    ["no phase", { phases: [] }],
  ] as const)("refuses a condition that allows %s, and watches nothing", async ([, condition]) => {
    let watches = 0;
    const core = new MemoryNamespace("default");
    const state = wrapState({
      ...delegating(core),
      watch: (pointer, options) => {
        watches += 1;
        return core.watch(pointer, options);
      },
    });
    await expect(state.watchFor(ref, condition)).rejects.toThrow(code("invalid"));
    expect(watches).toBe(0);
  });

  test("fails with the error of a watch that failed", async () => {
    const lost = new Error("lost");
    const state = watching([{ type: "Errored", error: lost }]);
    await expect(state.watchFor(ref, { events: ["Updated"] })).rejects.toBe(lost);
  });

  test("fails when the State is disposed, and stops when told", async () => {
    const state = new MemoryState();
    const waits = { events: ["Updated"] } as const;
    const controller = new AbortController();
    const reason = new Error("enough");
    const aborted = state.watchFor(ref, waits, { signal: controller.signal });
    const disposed = state.watchFor(ref, waits);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    const refusal = {
      code: "unavailable",
      message: "the watch of test/int(default/one) ended: its State was disposed",
      pointer: ref,
    };
    await Promise.all([expect(disposed).rejects.toMatchObject(refusal), state[Symbol.asyncDispose]()]);
    await expect(state.watchFor(ref, waits, { signal: controller.signal })).rejects.toBe(reason);
  });

  test("releases its watch", async () => {
    let released = 0;
    const state = watching([{ type: "Created", resource: at("1") }], () => released++);
    await state.watchFor(ref);
    expect(released).toBe(1);
    await expect(
      state.watchFor(ref, {
        where: () => {
          throw new Error("no");
        },
      }),
    ).rejects.toThrow("no");
    expect(released).toBe(2);
  });
});

describe("watchFor, when its watch loses its place", () => {
  const resynced: Event = { type: "Resynced", resource: createTombstone(Int.ref("")) };
  const before: Event = { type: "Created", resource: at("3") };
  const wait = (events: Event[], condition: WatchCondition) => watching(events).watchFor(ref, condition);

  test("takes another version for an update", async () => {
    const events: Event[] = [before, resynced, { type: "Created", resource: at("7") }];
    expect((await wait(events, { events: ["Updated"] })).metadata.version).toBe("7");
    await expect(wait(events, { events: ["Destroyed"] })).rejects.toThrow(code("unavailable"));
  });

  test("takes the same version for nothing new", async () => {
    const events: Event[] = [before, resynced, { type: "Created", resource: at("3") }];
    await expect(wait(events, { events: ["Updated", "Destroyed"] })).rejects.toThrow(code("unavailable"));
  });

  test("knows that a resource was destroyed when another stands in its place", async () => {
    for (const present of [at("1"), at("3", "2030-01-01T00:00:00Z")]) {
      const events: Event[] = [before, resynced, { type: "Created", resource: present }];
      expect(await wait(events, { events: ["Destroyed"] })).toBe(before.resource);
      expect(await wait(events, { where: (one) => one === present })).toBe(present);
    }
  });

  test("sees that a resource is gone, or is there now", async () => {
    const tombstone = createTombstone(ref);
    const gone: Event = { type: "Destroyed", resource: tombstone };
    expect(await wait([before, resynced, gone], { events: ["Destroyed"] })).toBe(tombstone);
    const there: Event = { type: "Created", resource: at("9") };
    expect(await wait([gone, resynced, there], { events: ["Created"] })).toBe(there.resource);
    expect(await wait([resynced, there], { events: ["Created"] })).toBe(there.resource);
  });
});

function at(version: string, created = "2020-01-01T00:00:00Z"): Resource {
  return patchMetadata(Int.create("one", { value: 1 }), { version, created });
}

/** A State whose every watch delivers the given events and then ends. */
function watching(events: readonly Event[], onRelease: () => void = () => undefined): ReturnType<typeof wrapState> {
  const watch = (): Watch => {
    const rest = [...events];
    const done = { done: true, value: undefined } as const;
    return {
      next: () => {
        const value = rest.shift();
        return Promise.resolve(value === undefined ? done : { done: false, value });
      },
      return: () => {
        onRelease();
        return Promise.resolve(done);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
      [Symbol.asyncDispose]: () => Promise.resolve(onRelease()),
    };
  };
  return wrapState({ ...delegating(new MemoryNamespace("default")), watch: () => Promise.resolve(watch()) });
}

function delegating(core: CoreState): CoreState {
  return {
    get: (pointer, options) => core.get(pointer, options),
    list: (kind, options) => core.list(kind, options),
    create: (resource, options) => core.create(resource, options),
    update: (resource, options) => core.update(resource, options),
    destroy: (pointer, options) => core.destroy(pointer, options),
    watch: (pointer, options) => core.watch(pointer, options),
    watchKind: (kind, options) => core.watchKind(kind, options),
    watchKindBatches: (kind, options) => core.watchKindBatches(kind, options),
    [Symbol.asyncDispose]: async () => core[Symbol.asyncDispose]?.(),
  };
}
