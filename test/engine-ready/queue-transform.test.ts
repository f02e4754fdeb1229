import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  byLabel,
  DestroyOutputError,
  mapped,
  queueTransform,
  RequeueError,
  sameId,
  SkipError,
  type QueueController,
} from "../../src/controller/index.ts";
import { exists, Phase } from "../../src/resource/index.ts";
import { assertLength, assertNoResource, assertResource, eventually } from "../../src/testing/index.ts";
import { A, B, C, Permits, STORES, World } from "./world.ts";

type Definition = Parameters<typeof queueTransform<typeof A, typeof B>>[0];

/** Makes `"text"-int` of each A, fails for a negative one. */
function ab(options: Partial<Definition> = {}): QueueController {
  return queueTransform({
    name: "AB",
    input: A,
    output: B,
    map: ({ metadata }) => (metadata.id === "skip-me" ? undefined : `transformed-${metadata.id}`),
    unmap: ({ metadata }) => metadata.id.replace("transformed-", ""),
    transform({ input, draft }) {
      const { text, int } = input.spec;
      if (text.startsWith("destroy-output")) throw new DestroyOutputError();
      if (int < 0) throw new Error("it is negative");
      draft.out = `${JSON.stringify(text)}-${int}`;
      draft.count ??= 0;
    },
    ...options,
  });
}

const finalizing = (permits: Permits): Pick<Definition, "finalize"> => ({
  async finalize({ input, signal }) {
    await permits.take(signal, input.metadata.id);
    permits.give(input.metadata.id);
  },
});

const out = (world: World, id: string, text: string) =>
  assertResource(world.state, B, `transformed-${id}`, ({ spec, metadata }) => {
    expect(spec.out).toBe(text);
    expect(metadata).toMatchObject({ owner: "AB", phase: Phase.running });
  });
const isTornDown = (world: World, id: string) =>
  assertResource(world.state, B, `transformed-${id}`, ({ metadata }) => expect(metadata.phase).toBe(Phase.tearingDown));
const isGone = (world: World, id: string) => assertNoResource(world.state, B, `transformed-${id}`);
const isHeldBy = (world: World, id: string, ...finalizers: readonly string[]) =>
  assertResource(world.state, A, id, ({ metadata }) => expect(metadata.finalizers).toEqual(finalizers));
const change = (world: World, id: string, text: string) =>
  world.state.modify(A, id, (spec) => void (spec.text = text), { expectedPhase: "any" });

/** As, each with its number. */
async function create(world: World, ...texts: readonly string[]): Promise<void> {
  for (const [at, text] of texts.entries()) await world.state.create(A.create(String(at + 1), { text, int: at + 1 }));
}

describe.each(STORES)("queueTransform, %s", (store) => {
  test("[engine T-56] each input has its output, which follows it", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab({ concurrency: 4 }));
    await out(world, "1", '"foo"-1');
    await out(world, "2", '"bar"-2');
    await out(world, "3", '"baz"-3');
    await world.state.create(A.create("4", { text: "more", int: 4 }));
    await change(world, "1", "foo2");
    await out(world, "1", '"foo2"-1');
    await out(world, "4", '"more"-4');
    await assertLength(world.state, B, 4);
    await isHeldBy(world, "1", "AB");
  });

  test("[engine T-57] an input that maps to nothing is left alone", async () => {
    await using world = await World.open(store);
    await world.state.create(A.create("skip-me", { text: "skipped", int: 0 }));
    await create(world, "foo", "bar");
    await world.start(ab({ concurrency: 2 }));
    await out(world, "1", '"foo"-1');
    await out(world, "2", '"bar"-2');
    await assertLength(world.state, B, 2);
    expect((await world.state.get(A, "skip-me")).metadata.finalizers).toEqual([]);
  });

  test("[engine T-58] an input that fails holds up no other", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.state.modify(A, "2", (spec) => void (spec.int = -2));
    const engine = await world.start(ab({ concurrency: 8 }));
    await out(world, "1", '"foo"-1');
    await out(world, "3", '"baz"-3');
    await eventually(() => expect(engine.metric("qcontroller_crashes", "AB")).toBeGreaterThan(0));
    await isGone(world, "2");
    await world.state.modify(A, "2", (spec) => void (spec.int = 2));
    await out(world, "2", '"bar"-2');
  });

  test("[engine T-59] a transform can say that there is to be no output", async () => {
    await using world = await World.open(store);
    await world.state.create(A.create("1", { text: "before", int: 0 }));
    const engine = await world.start(ab());
    await out(world, "1", '"before"-0');
    await world.state.addFinalizer(B.ref("transformed-1"), "held");
    await change(world, "1", "destroy-output");
    await isTornDown(world, "1");
    await change(world, "1", "after");
    await setTimeout(20);
    expect((await isTornDown(world, "1")).spec.out).toBe('"before"-0');
    await world.state.removeFinalizer(B.ref("transformed-1"), "held");
    await out(world, "1", '"after"-0');
    await change(world, "1", "destroy-output");
    await isGone(world, "1");
    await change(world, "1", "destroy-output-updated");
    await setTimeout(20);
    await isGone(world, "1");
    expect(engine.metric("qcontroller_crashes", "AB")).toBe(0);
  });

  test("[engine T-60] an input is held until its output is gone", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await assertLength(world.state, B, 3);
    for (const id of ["1", "3"]) {
      await isHeldBy(world, id, "AB");
      expect(await world.state.teardown(A.ref(id))).toBe(false);
      await isHeldBy(world, id);
      await world.state.destroy(A.ref(id));
      await isGone(world, id);
    }
    await out(world, "2", '"bar"-2');
  });

  test.each([
    ["T-61", "until the others are gone", { ignoreTeardownUntil: ["extra"] }, ["yet-another", "other"], ["extra"]],
    ["T-62", "while some are there", { ignoreTeardownWhile: ["extra"] }, ["extra"], ["other"]],
  ])("[engine %s] teardown is ignored %s", async (_, _when, options, first, last) => {
    await using world = await World.open(store);
    await create(world, "foo", "bar");
    await world.start(ab(options));
    await assertLength(world.state, B, 2);
    await world.state.teardownAndDestroy(A.ref("1"));
    await isGone(world, "1");

    await world.state.addFinalizer(A.ref("2"), ...first, ...last);
    await world.state.teardown(A.ref("2"));
    await change(world, "2", "seen since");
    await out(world, "2", '"seen since"-2');
    for (const [at, finalizer] of first.entries()) {
      await world.state.removeFinalizer(A.ref("2"), finalizer);
      if (at < first.length - 1) await out(world, "2", '"seen since"-2');
    }
    await isGone(world, "2");
    await isHeldBy(world, "2", ...last);
    await world.state.removeFinalizer(A.ref("2"), ...last);
    await world.state.destroy(A.ref("2"));
  });

  test("[engine T-63] an output that is held keeps its input", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    await world.start(ab());
    await assertLength(world.state, B, 3);
    await world.state.addFinalizer(B.ref("transformed-3"), "held");
    await world.state.teardown(A.ref("3"));
    await isTornDown(world, "3");
    await isHeldBy(world, "3", "AB");
    await world.state.removeFinalizer(B.ref("transformed-3"), "held");
    await isGone(world, "3");
    await isHeldBy(world, "3");
    await world.state.destroy(A.ref("3"));
  });

  test("[engine T-64] [engine T-65] finalize comes first, and the output runs on meanwhile", async () => {
    await using world = await World.open(store);
    const permits = new Permits();
    await create(world, "foo", "bar", "baz");
    await world.start(ab({ ...finalizing(permits), concurrency: 2 }));
    await assertLength(world.state, B, 3);
    await world.state.addFinalizer(B.ref("transformed-2"), "held");
    await world.state.teardown(A.ref("2"));
    await world.state.teardown(A.ref("3"));
    permits.give("3");
    await isGone(world, "3");
    await isHeldBy(world, "3");
    await out(world, "2", '"bar"-2');
    permits.give("2");
    await isTornDown(world, "2");
    await isHeldBy(world, "2", "AB");
    await world.state.removeFinalizer(B.ref("transformed-2"), "held");
    await isGone(world, "2");
    await isHeldBy(world, "2");
  });

  test("[engine T-66] two of them can share the type of their outputs", async () => {
    await using world = await World.open(store);
    await create(world, "foo");
    await world.state.create(C.create("c", { aux: 7 }));
    const second = queueTransform({
      name: "CB",
      input: C,
      output: B,
      outputKind: "shared",
      transform: ({ input }) => ({ out: String(input.spec.aux), count: 0 }),
    });
    await world.start(ab({ outputKind: "shared" }), second);
    await out(world, "1", '"foo"-1');
    await assertResource(world.state, B, "c", ({ spec }) => expect(spec.out).toBe("7"));
  });

  test("[engine T-67] changes of another kind wake the input of the same id", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    const controller = queueTransform({
      name: "AB",
      input: A,
      output: B,
      map: ({ metadata }) => `transformed-${metadata.id}`,
      unmap: ({ metadata }) => metadata.id.replace("transformed-", ""),
      inputs: [mapped(C, sameId(A))],
      async transform({ input, state }) {
        const extra = await state.getOrNull(C, input.metadata.id);
        const { text, int } = input.spec;
        return { out: [JSON.stringify(text), int, ...(extra ? [extra.spec.aux] : [])].join("-"), count: 0 };
      },
    });
    await world.start(controller);
    await assertLength(world.state, B, 3);
    for (const [id, aux] of Object.entries({ 1: 11, 2: 22, 4: 44 })) await world.state.create(C.create(id, { aux }));
    await out(world, "1", '"foo"-1-11');
    await out(world, "2", '"bar"-2-22');
    await out(world, "3", '"baz"-3');
    await world.state.destroy(C.ref("1"));
    await out(world, "1", '"foo"-1');
  });

  test("[engine T-68] a transform can ask to run again, with and without a failure", async () => {
    await using world = await World.open(store);
    await create(world, "foo");
    let attempts = 0;
    const engine = await world.start(
      ab({
        transform({ draft }) {
          attempts++;
          if (attempts === 1) throw new RequeueError(50, new Error("not yet"));
          if (attempts === 2) throw new RequeueError(50);
          draft.out = "here";
          draft.count = (draft.count ?? 0) + 1;
          if (attempts === 3) throw new RequeueError(50);
          return undefined;
        },
      }),
    );
    await assertResource(world.state, B, "transformed-1", ({ spec }) =>
      expect(spec).toEqual({ out: "here", count: 2 }),
    );
    // The first failed, the second had filled nothing yet, the third wrote what it had, the fourth came by itself.
    expect(attempts).toBe(4);
    expect(engine.metric("qcontroller_crashes", "AB")).toBe(1);
    expect(engine.metric("qcontroller_requeues", "AB")).toBe(2);
  });

  test("[engine T-69] changes of another kind wake the input that a label names", async () => {
    await using world = await World.open(store);
    await create(world, "foo", "bar", "baz");
    const controller = queueTransform({
      name: "AB",
      input: A,
      output: B,
      map: ({ metadata }) => `transformed-${metadata.id}`,
      unmap: ({ metadata }) => metadata.id.replace("transformed-", ""),
      inputs: [mapped(C, byLabel(A, "a", [exists("a")]))],
      async transform({ input, state }) {
        const { text, int } = input.spec;
        const extra = (await state.list(C)).filter(({ metadata }) => metadata.labels["a"] === input.metadata.id);
        return { out: [JSON.stringify(text), int, ...extra.map(({ spec }) => spec.aux)].join("-"), count: 0 };
      },
    });
    await world.start(controller);
    const add = (id: string, a: string, aux: number) => world.state.create(C.create(id, { aux }, { labels: { a } }));
    await add("cA", "1", 11);
    await add("cB", "2", 22);
    await add("cC", "1", 33);
    await world.state.create(C.create("cD", { aux: 99 }));
    await out(world, "1", '"foo"-1-11-33');
    await out(world, "2", '"bar"-2-22');
    await out(world, "3", '"baz"-3');
    await world.state.destroy(C.ref("cB"));
    await out(world, "2", '"bar"-2');
    await world.state.destroy(C.ref("cA"));
    await world.state.modify(C, "cD", (_, metadata) => void (metadata.labels["a"] = "3"));
    await out(world, "1", '"foo"-1-33');
    const last = await out(world, "3", '"baz"-3-99');
    expect(last.metadata.version).toBe("2");
  });

  test("an input without a mapper is mapped by the definition, and a skip leaves all as it is", async () => {
    await using world = await World.open(store);
    await create(world, "foo");
    const controller = queueTransform({
      name: "AB",
      input: A,
      output: B,
      inputs: [mapped(C)],
      async mapInput({ input, state }) {
        const changed = await state.getOrNull(C, input.id);
        return changed === undefined ? [] : [A.ref(String(changed.spec.aux))];
      },
      async transform({ input, state }) {
        const [extra] = await state.list(C);
        if (extra === undefined) throw new SkipError("nothing to go with it");
        return { out: input.spec.text, count: extra.spec.aux };
      },
    });
    const engine = await world.start(controller);
    await eventually(() => expect(engine.metric("qcontroller_skips", "AB")).toBeGreaterThan(0));
    await assertLength(world.state, B, 0);
    await world.state.create(C.create("c", { aux: 1 }));
    await assertResource(world.state, B, "1", ({ spec }) => expect(spec).toEqual({ out: "foo", count: 1 }));
  });

  test("what belongs to another is left alone, running or not", async () => {
    await using world = await World.open(store);
    await world.state.create(B.create("transformed-1", { out: "theirs", count: 0 }), { owner: "another" });
    await world.state.create(B.create("transformed-2", { out: "theirs", count: 0 }), { owner: "another" });
    await world.state.teardown(B.ref("transformed-2"), { owner: "another" });
    await create(world, "foo", "bar", "baz");
    const engine = await world.start(ab());
    await out(world, "3", '"baz"-3');
    expect(await world.state.list(B).then((list) => list.map(({ spec }) => spec.out))).toEqual([
      "theirs",
      "theirs",
      '"baz"-3',
    ]);
    expect(engine.metric("qcontroller_crashes", "AB")).toBe(0);
  });
});

test.each<[string, object, string]>([
  ["no name", { name: undefined }, "queueTransform needs a name"],
  ["no transform", { transform: 1 }, "queueTransform AB: transform must be a function"],
  ["no way back", { unmap: undefined }, "map needs an unmap"],
])("a definition with %s is refused", (_, part, message) => {
  expect(() => ab(part)).toThrow(message);
});
