import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryNamespace, MemoryState } from "../../memory/index.ts";
import { isConflict, isPhaseConflict, patchMetadata, Phase, StateError, type Resource } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState } from "../core-state.ts";
import { wrapState } from "../wrap-state.ts";

const one = Int.create("one", { value: 1 });
const code = (expected: string) => expect.objectContaining({ code: expected });

/** `core`, in which `before` runs ahead of each update. */
function interfering(core: CoreState, before: (resource: Resource) => unknown): CoreState {
  return {
    get: (pointer, options) => core.get(pointer, options),
    list: (kind, options) => core.list(kind, options),
    create: (resource, options) => core.create(resource, options),
    update: async (resource, options) => {
      await before(resource);
      return core.update(resource, options);
    },
    destroy: (pointer, options) => core.destroy(pointer, options),
    watch: (pointer, options) => core.watch(pointer, options),
    watchKind: (kind, options) => core.watchKind(kind, options),
    watchKindBatches: (kind, options) => core.watchKindBatches(kind, options),
  };
}

/** A store in which somebody else always comes in between a read and the write that follows. */
function contended(): CoreState {
  const core = new MemoryNamespace("default", { types: [Int] });
  return interfering(core, async ({ metadata }) => {
    const current = await core.get(metadata);
    await core.update(current, { owner: current.metadata.owner, expectedPhase: "any" });
  });
}

describe("updateWithConflicts", () => {
  test("resolves to what was written and leaves what it was given alone", async () => {
    await using state = new MemoryState({ types: [Int] });
    const created = await state.create(one);
    const updated = await state.updateWithConflicts(created.metadata, (spec, metadata) => {
      metadata.labels["a"] = "b";
      return { ...(spec as { value: number }), value: 2 };
    });
    expect(updated.metadata).toMatchObject({ version: "2", labels: { a: "b" } });
    expect(updated.spec).toEqual({ value: 2 });
    expect(await state.get(Int, "one")).toBe(updated);
    expect(created.metadata).toMatchObject({ version: "1", labels: {} });
  });

  test("reads again after a version conflict and runs the change on what is there then", async () => {
    const core = new MemoryNamespace("default", { types: [Int] });
    let others = 3;
    const state = wrapState(
      interfering(core, async () => {
        if (others-- > 0) await wrapState(core).updateWithConflicts(Int, "one", (spec) => void (spec.value += 10));
      }),
    );
    await core.create(one);
    const seen: number[] = [];
    const updated = await state.updateWithConflicts(Int, "one", (spec) => {
      seen.push(spec.value);
      spec.value += 1;
    });
    expect(seen).toEqual([1, 11, 21, 31]);
    expect(updated.spec.value).toBe(32);
    expect(updated.metadata.version).toBe("5");
  });

  test("reads again with its signal, and something later than what it read before", async () => {
    const core = new MemoryNamespace("default", { types: [Int] });
    const reads: unknown[] = [];
    let conflicts = 1;
    const other = interfering(core, async ({ metadata }) => {
      if (conflicts-- > 0) await core.update(await core.get(metadata));
    });
    other.get = (pointer, options) => {
      reads.push(options);
      return core.get(pointer, options);
    };
    await core.create(one);
    const { signal } = new AbortController();
    await wrapState(other).updateWithConflicts(Int, "one", (spec) => void (spec.value += 1), { signal });
    expect(reads).toEqual([{ signal }, { signal, atLeast: "2" }]);
  });

  test("the change may take its time", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(one);
    const add = async (n: number) =>
      state.updateWithConflicts(Int, "one", async (spec) => {
        const { value } = spec;
        await new Promise((resolve) => setImmediate(resolve));
        return { value: value + n };
      });
    await Promise.all([add(1), add(2), add(4), add(8)]);
    expect((await state.get(Int, "one")).spec.value).toBe(16);
  });

  test("without an effective change, a foreign owner does not matter and nothing is written [state 180]", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(one, { owner: "Somebody" });
    const answer = await state.updateWithConflicts(Int, "one", (spec) => void (spec.value = 1));
    expect(answer).toBe(await state.get(Int, "one"));
    expect(answer.metadata.version).toBe("1");

    await state.teardown(Int.ref("one"), { owner: "Somebody" });
    let ran = false;
    const refused = await state
      .updateWithConflicts(Int, "one", () => void (ran = true), { owner: "Somebody" })
      .catch((error: unknown) => error);
    expect(isPhaseConflict(refused)).toBe(true);
    expect(isConflict(refused, { namespace: "default", type: "test/int" })).toBe(true);
    expect(ran).toBe(false);
  });

  test("a change of nothing but the order of keys or finalizers is none", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("one", { value: 1 }, { finalizers: ["a", "b"] }));
    const answer = await state.updateWithConflicts(Int, "one", (_spec, metadata) => {
      metadata.finalizers = ["b", "a"];
    });
    expect(answer.metadata.version).toBe("1");
  });

  test("writes in the phase that is expected, and only then", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(one);
    const set = (value: number, expectedPhase: Phase | "any") =>
      state.updateWithConflicts(Int, "one", () => ({ value }), { expectedPhase });
    await expect(set(2, Phase.tearingDown)).rejects.toThrow(code("phase_conflict"));
    await state.teardown(Int.ref("one"));
    expect((await set(3, Phase.tearingDown)).spec.value).toBe(3);
    expect((await set(4, "any")).spec.value).toBe(4);
    await expect(set(5, Phase.running)).rejects.toThrow(code("phase_conflict"));
  });

  test("does not retry what a retry cannot help", async () => {
    await using state = new MemoryState({ types: [Int] });
    let runs = 0;
    const change = () => ({ value: ++runs + 1 });
    await expect(state.updateWithConflicts(Int, "one", change)).rejects.toThrow(code("not_found"));
    await state.create(one, { owner: "Somebody" });
    await expect(state.updateWithConflicts(Int, "one", change)).rejects.toThrow(code("owner_conflict"));
    await expect(state.updateWithConflicts(Int, "one", change, { owner: "Else" })).rejects.toThrow(
      code("owner_conflict"),
    );
    expect(runs).toBe(2);
    const invalid = () => ({ value: 1.5 });
    await expect(state.updateWithConflicts(Int, "one", invalid, { owner: "Somebody" })).rejects.toThrow(
      code("invalid"),
    );
    expect((await state.get(Int, "one")).metadata.version).toBe("1");
  });

  test("what the change throws comes back as it is, even a version conflict of its own", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(one);
    const thrown = ["text", undefined, new Error("no"), new StateError("version_conflict", "of something else")];
    for (const error of thrown) {
      const caught = { error: "nothing" as unknown };
      let runs = 0;
      await state
        .updateWithConflicts(Int, "one", () => {
          runs++;
          // eslint-disable-next-line typescript/only-throw-error -- whatever a change throws must come through
          throw error;
        })
        .catch((reason: unknown) => (caught.error = reason));
      expect(caught.error).toBe(error);
      expect(runs).toBe(1);
    }
    expect((await state.get(Int, "one")).metadata.version).toBe("1");
  });

  test("gives others a turn of the event loop between attempts, and stops when told", async () => {
    const state = wrapState(contended());
    await state.create(one);
    const controller = new AbortController();
    let runs = 0;
    const hopeless = state.updateWithConflicts(Int, "one", () => ({ value: ++runs + 1 }), {
      signal: controller.signal,
    });
    // A timer that fires although the loop never waits for anything real: that is the point.
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 5);
    await expect(hopeless).rejects.toBe(reason);
    expect(runs).toBeGreaterThan(0);
  });

  test("takes its turns from the given clock", async () => {
    let turns = 0;
    const clock = {
      defer: (fn: () => void) => {
        turns += 1;
        queueMicrotask(fn);
      },
    };
    const core = new MemoryNamespace("default", { types: [Int] });
    let others = 4;
    const state = wrapState(
      interfering(core, async () => {
        if (others-- > 0) await wrapState(core).addFinalizer(Int.ref("one"), `f${others}`);
      }),
      { clock },
    );
    await core.create(one);
    await state.updateWithConflicts(Int, "one", () => ({ value: 2 }));
    expect(turns).toBe(4);
  });

  test("an aborted signal ends it before anything is read", async () => {
    await using state = new MemoryState({ types: [Int] });
    const reason = new Error("no more");
    const options = { signal: AbortSignal.abort(reason) };
    await expect(state.updateWithConflicts(Int, "one", () => undefined, options)).rejects.toBe(reason);
    await expect(state.modify(Int, "one", () => ({ value: 1 }), options)).rejects.toBe(reason);
    expect(await state.list(Int)).toHaveLength(0);
  });
});

describe("modify", () => {
  test("creates from an empty draft, or from what it was given", async () => {
    await using state = new MemoryState({ types: [Int] });
    const filled = await state.modify(Int, "filled", (spec, metadata) => {
      expect(spec).toEqual({});
      spec.value = 1;
      metadata.labels["a"] = "b";
    });
    expect(filled).toMatchObject({ spec: { value: 1 }, metadata: { version: "1", labels: { a: "b" }, owner: "" } });
    const given = await state.modify(Int.create("given", { value: 5 }), (spec) => void (spec.value += 1));
    expect(given.spec.value).toBe(6);
    expect((await state.modify(Int.create("same", { value: 5 }), () => undefined)).spec.value).toBe(5);
    expect((await state.list(Int)).map((each) => each.metadata.id)).toEqual(["filled", "given", "same"]);
  });

  test("what it creates is checked, also where the State does not know the type", async () => {
    await using state = new MemoryState();
    await expect(state.modify(Int, "one", () => undefined)).rejects.toThrow(code("invalid"));
    await expect(state.modify(Int, "one", (_spec, metadata) => void (metadata.labels["a"] = "b"))).rejects.toThrow(
      code("invalid"),
    );
    expect(await state.list(Int)).toHaveLength(0);
  });

  test("of two creators one wins, the other gets a conflict that is not retried [state 181]", async () => {
    await using state = new MemoryState({ types: [Int] });
    let runs = 0;
    const create = (value: number) =>
      state.modify(Int, "one", () => {
        runs++;
        return { value };
      });
    const results = await Promise.allSettled([create(1), create(2)]);
    const lost = results.filter((result) => result.status === "rejected").map((result): unknown => result.reason);
    expect(lost).toEqual([code("already_exists")]);
    expect(isConflict(lost[0])).toBe(true);
    expect(runs).toBe(2);
    const won = results.find((result) => result.status === "fulfilled");
    expect(await state.get(Int, "one")).toBe(won?.value);
  });

  test("the expected phase plays no role in creating", async () => {
    await using state = new MemoryState({ types: [Int] });
    const created = await state.modify(Int, "one", () => ({ value: 1 }), { expectedPhase: Phase.tearingDown });
    expect(created.metadata.phase).toBe(Phase.running);
  });

  test("an error of the read is not taken for a missing resource", async () => {
    const down = new StateError("unavailable", "down");
    const core = new MemoryNamespace("default");
    const state = wrapState({ ...interfering(core, () => undefined), get: () => Promise.reject(down) });
    await expect(state.modify(Int, "one", () => ({ value: 1 }))).rejects.toBe(down);
    expect(await core.list(Int)).toHaveLength(0);
  });

  test("the defaults of a schema alone are no reason to write", async () => {
    const core = new MemoryNamespace("default");
    await core.create(patchMetadata(one, { labels: { a: "b" } }));
    const state = wrapState(core);
    expect((await state.modify(Int, "one", () => undefined)).metadata.version).toBe("1");
    expect((await state.modify(Int.create("one", { value: 9 }), () => undefined)).spec.value).toBe(1);
  });
});

describe("in every order of steps", () => {
  /** A State whose reads, writes and turns of the event loop happen in the order that the scheduler picks. */
  function scheduled(scheduler: fc.Scheduler): {
    readonly core: CoreState;
    readonly state: ReturnType<typeof wrapState>;
  } {
    const core = new MemoryNamespace("default", { types: [Int] });
    const clock = { defer: (fn: () => void) => void scheduler.schedule(Promise.resolve(), "turn").then(fn) };
    const slow: CoreState = {
      ...interfering(core, () => undefined),
      get: scheduler.scheduleFunction((pointer, options) => core.get(pointer, options)),
      create: scheduler.scheduleFunction((resource, options) => core.create(resource, options)),
      update: scheduler.scheduleFunction((resource, options) => core.update(resource, options)),
    };
    return { core, state: wrapState(slow, { clock }) };
  }

  test("no update is lost", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, count) => {
        const { core, state } = scheduled(scheduler);
        await core.create(one);
        const increments = Array.from({ length: count }, (_, i) =>
          i % 2 === 0
            ? state.updateWithConflicts(Int, "one", (spec) => void (spec.value += 1))
            : state.modify(Int, "one", (spec) => void (spec.value = (spec.value ?? 0) + 1)),
        );
        const results = await scheduler.waitFor(Promise.all(increments));
        const stored = Int.cast(await core.get(Int.ref("one")));
        expect(stored.spec.value).toBe(1 + count);
        expect(stored.metadata.version).toBe(String(1 + count));
        // Each of them saw another value: nobody's answer is somebody else's.
        expect(new Set(results.map((result) => result.spec.value)).size).toBe(count);
      }),
    );
  });

  test("every creator wins or gets a conflict, and what the winners wrote is all there", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 5 }), async (scheduler, count) => {
        const { core, state } = scheduled(scheduler);
        const attempts = Array.from({ length: count }, (_, i) =>
          state.modify(Int, "one", (spec, metadata) => {
            spec.value = (spec.value ?? 0) + 1;
            metadata.labels[`by${i}`] = "";
          }),
        );
        const results = await scheduler.waitFor(Promise.allSettled(attempts));
        const winners = results.flatMap((result, i) => (result.status === "fulfilled" ? [`by${i}`] : []));
        const losers = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
        expect(losers).toEqual(losers.map(() => code("already_exists")));
        const stored = Int.cast(await core.get(Int.ref("one")));
        expect(stored.spec.value).toBe(winners.length);
        expect(Object.keys(stored.metadata.labels).toSorted()).toEqual(winners);
      }),
    );
  });

  test("finalizers end up as if added and removed one after the other", async () => {
    const operation = fc.record({ add: fc.boolean(), name: fc.constantFrom("a", "b", "c", "d", "e") });
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.uniqueArray(operation, { minLength: 1, selector: ({ name }) => name }),
        fc.subarray(["a", "b", "c", "d", "e"]),
        async (scheduler, operations, initial) => {
          const { core, state } = scheduled(scheduler);
          await core.create(Int.create("one", { value: 1 }, { finalizers: initial }), { owner: "Somebody" });
          const ref = Int.ref("one");
          await scheduler.waitFor(
            Promise.all(
              operations.map(({ add, name }) =>
                add ? state.addFinalizer(ref, name) : state.removeFinalizer(ref, name),
              ),
            ),
          );
          const expected = new Set(initial);
          for (const { add, name } of operations) expected[add ? "add" : "delete"](name);
          const stored = await core.get(ref);
          expect(new Set(stored.metadata.finalizers)).toEqual(expected);
          expect(stored.spec).toEqual({ value: 1 });
          expect(stored.metadata.owner).toBe("Somebody");
        },
      ),
    );
  });
});

test("an operation of several steps stays with the address that it was given", async () => {
  await using state = new MemoryState({ types: [Int] });
  for (const id of ["one", "two"]) await state.create(Int.create(id, { value: 1 }));
  const pointer = { ...Int.ref("one") };
  const updated = await state.updateWithConflicts(pointer, async () => {
    if (pointer.id === "one") await state.addFinalizer(pointer, "f");
    pointer.id = "two";
    return { value: 2 };
  });
  expect(updated.metadata.id).toBe("one");
  expect((await state.get(Int, "two")).spec.value).toBe(1);
});
