import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { exclusive, SkipError, strong, transform, type Controller } from "../../src/controller/index.ts";
import { isNotFound, Phase } from "../../src/resource/index.ts";
import { assertLength, assertNoResource, assertResource, eventually } from "../../src/testing/index.ts";
import { A, B, C, Permits, STORES, World } from "./world.ts";

type Definition = Parameters<typeof transform<typeof A, typeof B>>[0];

/** Makes `"text"-int` of each A, fails for a negative one. */
function ab(options: Partial<Definition> = {}): Controller {
  return transform({
    name: "AB",
    input: A,
    output: B,
    map: ({ metadata }) => (metadata.id === "skip-me" ? undefined : `transformed-${metadata.id}`),
    transform({ input, draft }) {
      const { text, int } = input.spec;
      if (int < 0) throw new Error("it is negative");
      const out = `${JSON.stringify(text)}-${int}`;
      return { out, count: draft.out === out ? (draft.count ?? 0) : (draft.count ?? 0) + 1 };
    },
    ...options,
  });
}

/** Waits for a permit for each input that is torn down; only those that say so may go. */
function finalizing(permits: Permits): Pick<Definition, "finalize"> {
  return {
    async finalize({ input, signal }) {
      if (input.spec.text !== "reconcile-teardown") throw new Error("it must not go");
      await permits.take(signal);
    },
  };
}

const out = (world: World, id: string, text: string) =>
  assertResource(world.state, B, `transformed-${id}`, ({ spec, metadata }) => {
    expect(spec.out).toBe(text);
    expect(metadata).toMatchObject({ owner: "AB", phase: Phase.running });
  });
const isTornDown = (world: World, id: string) =>
  assertResource(world.state, B, `transformed-${id}`, ({ metadata }) => expect(metadata.phase).toBe(Phase.tearingDown));
const isGone = (world: World, id: string) => assertNoResource(world.state, B, `transformed-${id}`);

/** As, each with its number. */
async function create(world: World, ...texts: readonly string[]): Promise<void> {
  for (const [at, text] of texts.entries()) await world.state.create(A.create(String(at + 1), { text, int: at + 1 }));
}

describe.each(STORES)("transform, %s", (store) => {
  test("[engine T-43] each input has its output, which follows it", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await out(world, "1", '"foo"-1');
    await out(world, "2", '"bar"-2');
    await out(world, "3", '"baz"-3');
    await world.state.create(A.create("4", { text: "more", int: 4 }));
    await world.state.modify(A, "1", (spec) => void (spec.text = "foo2"));
    await out(world, "1", '"foo2"-1');
    await out(world, "4", '"more"-4');
    await assertLength(world.state, B, 4);
  });

  test("[engine T-44] an input that maps to nothing has no output", async () => {
    await using world = await World.open(store);
    await world.state.create(A.create("skip-me", { text: "skipped", int: 0 }));
    await create(world, "foo", "bar");
    await world.start(ab());
    await out(world, "1", '"foo"-1');
    await out(world, "2", '"bar"-2');
    await assertLength(world.state, B, 2);
  });

  test("[engine T-45] an input that fails holds up no other", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.state.modify(A, "2", (spec) => void (spec.int = -2));
    const engine = await world.start(ab());
    await out(world, "1", '"foo"-1');
    await out(world, "3", '"baz"-3');
    await eventually(() => expect(engine.metric("controller_crashes", "AB")).toBeGreaterThan(0));
    await isGone(world, "2");
    await world.state.modify(A, "2", (spec) => void (spec.int = 2));
    await out(world, "2", '"bar"-2');
    await assertLength(world.state, B, 3);
  });

  test("[engine T-46] without finalizers an input goes at once, and its output follows", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await assertLength(world.state, B, 3);
    await world.state.destroy(A.ref("1"));
    await isGone(world, "1");
    expect(await world.state.teardown(A.ref("3"))).toBe(true);
    await world.state.destroy(A.ref("3"));
    await isGone(world, "3");
    await out(world, "2", '"bar"-2');
  });

  test("[engine T-47] an output that is held outlives its input, tearing down", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await assertLength(world.state, B, 3);
    for (const id of ["1", "2", "3"]) await world.state.addFinalizer(B.ref(`transformed-${id}`), "held");
    await world.state.teardown(A.ref("3"));
    await isTornDown(world, "3");
    await world.state.destroy(A.ref("3"));
    await assertLength(world.state, B, 3);
    await world.state.removeFinalizer(B.ref("transformed-3"), "held");
    await isGone(world, "3");
    await assertLength(world.state, B, 2);
  });

  test("[engine T-48] [engine T-49] inputs are held until they are finalized and the output is gone", async () => {
    await using world = await World.open(store);
    const permits = new Permits();
    await create(world, "reconcile-teardown", "reconcile-teardown", "reconcile-teardown");
    await world.start(ab(finalizing(permits)));
    for (const id of ["1", "2", "3"]) {
      await assertResource(world.state, A, id, ({ metadata }) => expect(metadata.finalizers).toEqual(["AB"]));
    }
    await assertLength(world.state, B, 3);

    expect(await world.state.teardown(A.ref("3"))).toBe(false);
    permits.give();
    await isGone(world, "3");
    await world.state.teardownAndDestroy(A.ref("3"));

    await world.state.addFinalizer(B.ref("transformed-2"), "held");
    await world.state.teardown(A.ref("2"));
    // The output runs on while `finalize` is at work.
    await out(world, "2", '"reconcile-teardown"-2');
    permits.give();
    await isTornDown(world, "2");
    await world.state.removeFinalizer(B.ref("transformed-2"), "held");
    // It is asked again: nothing says that it has run before.
    await isTornDown(world, "2");
    permits.give();
    await isGone(world, "2");
    await assertResource(world.state, A, "2", ({ metadata }) => expect(metadata.finalizers).toEqual([]));
  });

  test("[engine T-50] an input that comes again has a new output when the old one is gone", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await assertLength(world.state, B, 3);
    await world.state.addFinalizer(B.ref("transformed-3"), "held");
    await world.state.destroy(A.ref("3"));
    await isTornDown(world, "3");
    await world.state.create(A.create("3", { text: "", int: 2 }));
    await setImmediate();
    expect((await isTornDown(world, "3")).spec.out).toBe('"baz"-3');
    await world.state.removeFinalizer(B.ref("transformed-3"), "held");
    await out(world, "3", '""-2');
  });

  test("[engine T-51] teardown can be ignored: outputs live until their inputs are gone", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar");
    await world.start(ab({ ignoreTeardown: true }));
    await assertLength(world.state, B, 2);
    await world.state.teardown(A.ref("2"));
    await world.state.modify(A, "1", (spec) => void (spec.text = "seen since"));
    await out(world, "1", '"seen since"-1');
    await out(world, "2", '"bar"-2');
    await world.state.destroy(A.ref("2"));
    await isGone(world, "2");
    await world.state.addFinalizer(B.ref("transformed-1"), "held");
    await world.state.destroy(A.ref("1"));
    await isTornDown(world, "1");
    await world.state.removeFinalizer(B.ref("transformed-1"), "held");
    await isGone(world, "1");
  });

  test("[engine T-52] [engine T-53] something outside wakes it, one cycle a value; it hears of its end", async () => {
    await using world = await World.open(store);
    const permits = new Permits();
    let taken = 0;
    let cycles = 0;
    const ends: boolean[] = [];
    const engine = await world.start(
      ab({
        beforeCycle: () => void cycles++,
        onExit: ({ signal }) => void ends.push(signal.aborted),
        async *wakeups(signal) {
          for (;;) {
            await permits.take(signal);
            yield taken++;
          }
        },
      }),
    );
    await eventually(() => expect(cycles).toBeGreaterThan(0));
    const before = cycles;
    permits.give();
    permits.give();
    await eventually(() => expect(cycles).toBeGreaterThanOrEqual(before + 2));
    expect(taken).toBe(2);
    expect(ends).toEqual([]);
    await engine.stop();
    expect(ends).toEqual([true]);
  });

  test("[engine T-54] two of them can share the type of their outputs", async () => {
    await using world = await World.open(store);
    await create(world, "foo");
    const second = transform({
      name: "CB",
      input: C,
      output: B,
      outputKind: "shared",
      transform: ({ input }) => ({ out: String(input.spec.aux), count: 0 }),
    });
    await world.state.create(C.create("c", { aux: 7 }));
    await world.start(ab({ outputKind: "shared" }), second);
    await out(world, "1", '"foo"-1');
    await assertResource(world.state, B, "c", ({ spec }) => expect(spec.out).toBe("7"));
    await assertLength(world.state, B, 2);
  });

  test("[engine T-55] hooks run once in a cycle, and what comes at once is one cycle", async () => {
    await using world = await World.open(store);
    const calls = { before: 0, after: 0 };
    await world.start(ab({ beforeCycle: () => void calls.before++, afterCycle: () => void calls.after++ }));
    for (const at of [1, 2, 3]) await world.state.create(A.create(String(at), { text: "x", int: at }));
    await assertLength(world.state, B, 3);
    await eventually(() => expect(calls.after).toBe(calls.before));
    // Over the wire each create is a turn of its own.
    expect(calls.before).toBeLessThanOrEqual(store === "over the wire" ? 4 : 2);
  });

  test("extra inputs are read and wake it, extra outputs are written, and only some inputs count", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar");
    await world.state.create(C.create("factor", { aux: 2 }));
    const controller = transform({
      name: "ABC",
      input: A,
      output: B,
      query: { ids: "^1$" },
      inputs: [strong(C)],
      outputs: [exclusive(C)],
      async transform({ input, state, metadata }) {
        metadata.labels["of"] = input.metadata.id;
        const factor = await state.getOrNull(C, "factor");
        if (factor === undefined) throw new SkipError("no factor");
        await state.modify(C, "seen", () => ({ aux: factor.spec.aux }));
        return { out: input.spec.text, count: input.spec.int * factor.spec.aux };
      },
    });
    await world.start(controller);
    const check = (count: number) =>
      assertResource(world.state, B, "1", ({ spec, metadata }) => {
        expect(spec).toEqual({ out: "foo", count });
        expect(metadata.labels).toEqual({ of: "1" });
      });
    await check(2);
    await world.state.modify(C, "factor", (spec) => void (spec.aux = 3));
    await check(3);
    await assertResource(world.state, C, "seen", ({ spec }) => expect(spec.aux).toBe(3));
    // A skip leaves what is there, and is no failure.
    await world.state.destroy(C.ref("factor"));
    await world.state.modify(A, "1", (spec) => void (spec.text = "changed"));
    await check(3);
    await assertLength(world.state, B, 1);
  });

  test("what belongs to another is left alone, and keeps an input that maps to it", async () => {
    await using world = await World.open(store);
    await create(world, "reconcile-teardown", "reconcile-teardown");
    await world.state.create(B.create("transformed-1", { out: "theirs", count: 0 }), { owner: "another" });
    const engine = await world.start(ab({ finalize: () => {} }));
    await out(world, "2", '"reconcile-teardown"-2');
    await world.state.teardown(A.ref("1"));
    await world.state.modify(A, "2", (spec) => void (spec.int = 3));
    await out(world, "2", '"reconcile-teardown"-3');
    expect((await world.state.get(B, "transformed-1")).spec.out).toBe("theirs");
    expect((await world.state.get(A, "1")).metadata.finalizers).toEqual(["AB"]);
    expect(engine.metric("controller_crashes", "AB")).toBe(0);
  });

  test("a finalize that fails or is not ready keeps input and output", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar");
    const asked: string[] = [];
    let isReady = false;
    await world.start(
      ab({
        finalize({ input }) {
          asked.push(input.metadata.id);
          if (!isReady) throw input.metadata.id === "1" ? new SkipError("not yet") : new Error("broken");
        },
      }),
    );
    await assertLength(world.state, B, 2);
    await world.state.teardown(A.ref("1"));
    await world.state.teardown(A.ref("2"));
    await eventually(() => expect(new Set(asked)).toEqual(new Set(["1", "2"])));
    await out(world, "1", '"foo"-1');
    await out(world, "2", '"bar"-2');
    isReady = true;
    await assertLength(world.state, B, 0);
    await world.state.teardownAndDestroy(A.ref("1"));
    await world.state.teardownAndDestroy(A.ref("2"));
    await expect(world.state.get(A, "1")).rejects.toSatisfy(isNotFound);
  });
});

test("an output whose write succeeded, though its answer was lost, is cleaned up over a lagging cache", async () => {
  await using world = await World.open("in memory");
  // As if a run had died behind the write: the output is there, its input is not, and nothing else wakes the controller.
  await world.state.create(B.create("transformed-9", { out: "left over", count: 1 }), { owner: "AB" });
  await world.start(ab());
  await isGone(world, "9");
  expect(await world.state.list(B)).toHaveLength(0);
});

test.each<[string, object, string]>([
  ["no name", { name: "" }, "transform needs a name"],
  ["no transform", { transform: undefined }, "transform AB: transform must be a function"],
  [
    "both ways of teardown",
    { ignoreTeardown: true, finalize: () => {} },
    "finalize and ignoreTeardown exclude each other",
  ],
])("a definition with %s is refused", (_, part, message) => {
  expect(() => ab(part)).toThrow(message);
});
