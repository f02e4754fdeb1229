import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryNamespace, MemoryState } from "../../memory/index.ts";
import { createTombstone, hasCode, Phase, type Resource } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import type { DestroyOptions } from "../options.ts";
import { wrapState } from "../wrap-state.ts";

const ref = Int.ref("one");
const create = (...finalizers: string[]): Resource => Int.create("one", { value: 1 }, { finalizers });
const code = (expected: string) => expect.objectContaining({ code: expected });

/** The operations of a store, and no shortcuts. */
function plain(core: CoreState): CoreState {
  return {
    get: (pointer, options) => core.get(pointer, options),
    list: (kind, options) => core.list(kind, options),
    create: (resource, options) => core.create(resource, options),
    update: (resource, options) => core.update(resource, options),
    destroy: (pointer, options) => core.destroy(pointer, options),
    watch: (pointer, options) => core.watch(pointer, options),
    watchKind: (kind, options) => core.watchKind(kind, options),
    watchKindBatches: (kind, options) => core.watchKindBatches(kind, options),
  };
}

/** Removes the finalizers of everything that is being torn down, until the State is disposed. */
async function releaseWhatGoes(state: MemoryState): Promise<void> {
  for await (const event of await state.watchKind(Int, { bootstrap: true })) {
    if (event.type !== "Created" && event.type !== "Updated") continue;
    const { metadata } = event.resource;
    // an event without finalizers may be about a resource that is gone already
    if (metadata.phase !== Phase.tearingDown || metadata.finalizers.length === 0) continue;
    await state.removeFinalizer(metadata, ...metadata.finalizers);
  }
}

describe("teardown", () => {
  test("is left to a store that can do it at once, its answer and its errors included [state 77] [transport S23]", async () => {
    const calls: unknown[] = [];
    let answer: () => Promise<boolean> = () => Promise.resolve(true);
    const state = wrapState({
      ...plain(new MemoryNamespace("default")),
      get: () => Promise.reject(new Error("nothing is to be read")),
      teardown: (pointer, options) => {
        calls.push([pointer, options?.owner]);
        return answer();
      },
    });
    expect(await state.teardown(ref, { owner: "Somebody" })).toBe(true);
    expect(calls).toEqual([[ref, "Somebody"]]);
    answer = () => Promise.resolve(false);
    expect(await state.teardown(ref)).toBe(false);
    const error = new Error("not today");
    answer = () => Promise.reject(error);
    await expect(state.teardown(ref)).rejects.toBe(error);
    expect(calls).toHaveLength(3);
  });

  test("sets the phase and says whether the resource may go [state 78] [transport S23]", async () => {
    const state = wrapState(plain(new MemoryNamespace("default")));
    await state.create(create());
    expect(await state.teardown(ref)).toBe(true);
    expect((await state.get(ref)).metadata.phase).toBe(Phase.tearingDown);
    await state.destroy(ref);
    await state.create(create("finalizer"));
    expect(await state.teardown(ref)).toBe(false);
    expect((await state.get(ref)).metadata.phase).toBe(Phase.tearingDown);
  });

  test("may be asked for again, then by anyone", async () => {
    await using state = new MemoryState();
    await state.create(create("finalizer"), { owner: "Somebody" });
    await expect(state.teardown(ref)).rejects.toThrow(code("owner_conflict"));
    expect(await state.teardown(ref, { owner: "Somebody" })).toBe(false);
    expect(await state.teardown(ref, { owner: "Somebody" })).toBe(false);
    expect(await state.teardown(ref)).toBe(false);
    expect((await state.get(ref)).metadata.version).toBe("2");
  });

  test("succeeds when somebody else was faster", async () => {
    const core = new MemoryNamespace("default");
    await core.create(create(), { owner: "Somebody" });
    const state = wrapState({
      ...plain(core),
      update: async (resource, options) => {
        await wrapState(core).teardown(ref, { owner: "Somebody" });
        return core.update(resource, options);
      },
    });
    expect(await state.teardown(ref, { owner: "Somebody" })).toBe(true);
    expect((await core.get(ref)).metadata.version).toBe("2");
  });

  test("of many at once, all succeed with one write", async () => {
    await using state = new MemoryState();
    await state.create(create("finalizer"));
    expect(await Promise.all(Array.from({ length: 10 }, () => state.teardown(ref)))).toEqual(Array(10).fill(false));
    expect((await state.get(ref)).metadata.version).toBe("2");
  });

  test("ends before anything happens when aborted, and fails for what does not exist", async () => {
    await using state = new MemoryState();
    await expect(state.teardown(ref)).rejects.toThrow(code("not_found"));
    await state.create(create());
    const reason = new Error("no more");
    await expect(state.teardown(ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(state.teardownAndDestroy(ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect((await state.get(ref)).metadata.phase).toBe(Phase.running);
  });
});

describe("teardownAndDestroy", () => {
  test("is left to a store that can do it at once [state 79] [transport S23]", async () => {
    const calls: unknown[] = [];
    let answer: () => Promise<void> = () => Promise.resolve();
    const state = wrapState({
      ...plain(new MemoryNamespace("default")),
      get: () => Promise.reject(new Error("nothing is to be read")),
      teardown: () => Promise.reject(new Error("one call is enough")),
      teardownAndDestroy: (pointer, options) => {
        calls.push([pointer, options?.owner]);
        return answer();
      },
    });
    await state.teardownAndDestroy(ref, { owner: "Somebody" });
    expect(calls).toEqual([[ref, "Somebody"]]);
    const error = new Error("not today");
    answer = () => Promise.reject(error);
    await expect(state.teardownAndDestroy(ref)).rejects.toBe(error);
    expect(calls).toHaveLength(2);
  });

  test("destroys at once without finalizers, and waits until they are gone [state 80] [transport S23]", async () => {
    const state = wrapState(plain(new MemoryNamespace("default")));
    await state.create(create());
    await state.teardownAndDestroy(ref);
    await expect(state.get(ref)).rejects.toThrow(code("not_found"));

    await state.create(create("finalizer"));
    let done = false;
    const destruction = state.teardownAndDestroy(ref).then(() => (done = true));
    await state.watchFor(ref, { phases: [Phase.tearingDown] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(false);
    await state.removeFinalizer(ref, "finalizer");
    await destruction;
    await expect(state.get(ref)).rejects.toThrow(code("not_found"));
  });

  test("of many at once: each succeeds or finds nothing, and the resource is gone [state 81] [transport S24]", async () => {
    const state = new MemoryState();
    const releasing = releaseWhatGoes(state);
    await state.create(create("finalizer"));
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => state.teardownAndDestroy(ref)));
    for (const result of results) {
      const outcome = result.status === "fulfilled" || hasCode(result.reason, "not_found");
      expect(outcome).toBe(true);
    }
    expect(results.some((result) => result.status === "fulfilled")).toBe(true);
    await expect(state.get(ref)).rejects.toThrow(code("not_found"));
    await state[Symbol.asyncDispose]();
    await releasing;
  });

  test("in the name of an owner", async () => {
    await using state = new MemoryState();
    await state.create(create(), { owner: "Somebody" });
    await expect(state.teardownAndDestroy(ref)).rejects.toThrow(code("owner_conflict"));
    await state.teardownAndDestroy(ref, { owner: "Somebody" });
    expect(await state.list(Int)).toHaveLength(0);
  });

  test("waits where the store has only the teardown at once", async () => {
    const core = new MemoryNamespace("default");
    const options: DestroyOptions[] = [];
    const state = wrapState({
      ...plain(core),
      teardown: async (pointer, given = {}) => {
        options.push(given);
        return wrapState(core).teardown(pointer, given);
      },
    });
    await state.create(create("finalizer"));
    const destruction = state.teardownAndDestroy(ref);
    await state.watchFor(ref, { phases: [Phase.tearingDown] });
    await state.removeFinalizer(ref, "finalizer");
    await destruction;
    await state.create(create());
    await state.teardownAndDestroy(ref);
    expect(options).toHaveLength(2);
    expect(await state.list(Int)).toHaveLength(0);
  });

  test("is done when it sees that somebody else destroyed the resource during the wait", async () => {
    await using memory = new MemoryState();
    const going = await memory.create(create("finalizer"));
    const events: Event[] = [
      { type: "Updated", resource: going, old: going },
      { type: "Destroyed", resource: going },
    ];
    const state = wrapState({ ...plain(memory), watch: () => Promise.resolve(endingWith(events)) });
    await state.teardownAndDestroy(ref);
    expect((await memory.get(ref)).metadata.phase).toBe(Phase.tearingDown);
  });

  test("finds nothing to destroy when somebody else was faster with the last step", async () => {
    await using state = new MemoryState();
    await state.create(create("finalizer"));
    const destruction = state.teardownAndDestroy(ref);
    await state.watchFor(ref, { phases: [Phase.tearingDown] });
    await Promise.all([
      expect(destruction).rejects.toThrow(code("not_found")),
      state.removeFinalizer(ref, "finalizer").then(() => state.destroy(ref)),
    ]);
  });

  test("does not take a resource that was created anew for the one that is going", async () => {
    const clock = new ManualClock();
    const core = new MemoryNamespace("default", { clock });
    await core.create(create("finalizer"));
    const state = wrapState({
      ...plain(core),
      watch: async (pointer, options) => {
        await wrapState(core).removeFinalizer(ref, "finalizer");
        await core.destroy(ref);
        await clock.advance(1);
        await core.create(create());
        return core.watch(pointer, options);
      },
    });
    await state.teardownAndDestroy(ref);
    expect((await core.get(ref)).metadata.phase).toBe(Phase.running);
  });

  test("goes on from the present after its watch has lost its place", async () => {
    await using memory = new MemoryState();
    await memory.create(create("finalizer"));
    await memory.teardown(ref);
    const going = await memory.get(ref);
    await memory.removeFinalizer(ref, "finalizer");
    const events: Event[] = [
      { type: "Created", resource: going },
      { type: "Resynced", resource: createTombstone(Int.ref("")) },
      { type: "Created", resource: await memory.get(ref) },
    ];
    const state = wrapState({ ...plain(memory), watch: () => Promise.resolve(endingWith(events)) });
    await memory.addFinalizer(ref, "finalizer");
    const destruction = state.teardownAndDestroy(ref);
    await expect(destruction).rejects.toThrow(code("pending_finalizers"));
    expect(events).toHaveLength(0);
  });

  test("fails with the error of its watch, and when the State is disposed", async () => {
    const core = new MemoryNamespace("default");
    await core.create(create("finalizer"));
    const lost = new Error("lost");
    const failing = wrapState({
      ...plain(core),
      watch: () => Promise.resolve(endingWith([{ type: "Errored", error: lost }])),
    });
    await expect(failing.teardownAndDestroy(ref)).rejects.toBe(lost);

    const destruction = wrapState(plain(core)).teardownAndDestroy(ref);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([expect(destruction).rejects.toThrow(code("unavailable")), core[Symbol.asyncDispose]()]);
  });

  test("stops waiting when told", async () => {
    await using state = new MemoryState();
    await state.create(create("finalizer"));
    const controller = new AbortController();
    const destruction = state.teardownAndDestroy(ref, { signal: controller.signal });
    await state.watchFor(ref, { phases: [Phase.tearingDown] });
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(destruction).rejects.toBe(reason);
    expect((await state.get(ref)).metadata.finalizers).toEqual(["finalizer"]);
  });
});

test("in every order of steps, teardownAndDestroy ends when the last finalizer goes, and leaves nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.subarray(["a", "b", "c"]),
      fc.integer({ min: 1, max: 4 }),
      async (scheduler, finalizers, count) => {
        const core = new MemoryNamespace("default");
        const slow = {
          ...plain(core),
          get: scheduler.scheduleFunction<Parameters<CoreState["get"]>, Resource>((...args) => core.get(...args)),
          update: scheduler.scheduleFunction<Parameters<CoreState["update"]>, Resource>((...args) =>
            core.update(...args),
          ),
          destroy: scheduler.scheduleFunction<Parameters<CoreState["destroy"]>, void>((...args) =>
            core.destroy(...args),
          ),
          watch: scheduler.scheduleFunction<Parameters<CoreState["watch"]>, Watch>((...args) => core.watch(...args)),
        };
        const clock = { defer: (fn: () => void) => void scheduler.schedule(Promise.resolve(), "turn").then(fn) };
        const state = wrapState(slow, { clock });
        await core.create(create(...finalizers));
        const release = async (finalizer: string): Promise<void> => {
          await state.watchFor(ref, { phases: [Phase.tearingDown] });
          await state.removeFinalizer(ref, finalizer);
        };
        const [destructions] = await scheduler.waitFor(
          Promise.all([
            Promise.allSettled(Array.from({ length: count }, () => state.teardownAndDestroy(ref))),
            ...finalizers.map(release),
          ]),
        );
        const failures = destructions.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
        expect(failures).toEqual(failures.map(() => code("not_found")));
        expect(failures.length).toBeLessThan(count);
        expect(await core.list(Int)).toHaveLength(0);
      },
    ),
  );
});

/** A watch that delivers the given events, taking them away, and then ends. */
function endingWith(events: Event[]): Watch {
  return {
    next: () => {
      const value = events.shift();
      return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
