import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  exclusive,
  mapped,
  queueController,
  queueTransform,
  SkipError,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import type { Pointer } from "../src/resource/index.ts";
import type { State } from "../src/state/index.ts";
import { Int, Sentence, Str } from "../src/testing/index.ts";
import { startEngine, turns } from "./engine-fixture.ts";

/** Does not end before it is stopped. */
const wait = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Str from Int, Sentence from Str: a chain of two. */
const intToStr = (transform: (value: number) => string = String) =>
  queueTransform({
    name: "IntToStr",
    input: Int,
    output: Str,
    transform: ({ input }) => ({ value: transform(input.spec.value) }),
  });
const strToSentence = (finalize?: () => Promise<void> | void) =>
  queueTransform({
    name: "StrToSentence",
    input: Str,
    output: Sentence,
    transform: ({ input }) => ({ value: `${input.spec.value} sentence` }),
    ...(finalize && { finalize }),
  });

/** A world in which something is stuck: what explains it, and what helps. */
interface StuckWorld {
  readonly controllers: readonly (Controller | QueueController)[];
  readonly arrange: (state: State) => Promise<unknown>;
  readonly asked: Pointer;
  /** Parts of the steps, in order. */
  readonly steps: readonly (string | RegExp)[];
  readonly action?: string;
}

const WORLDS: Readonly<Record<string, StuckWorld>> = {
  "a finalizer of a controller that does not run": {
    controllers: [],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }));
      await state.addFinalizer(Int.ref("x"), "Gone");
      await state.teardown(Int.ref("x"));
    },
    asked: Int.ref("x"),
    steps: [
      /int\(default\/x\) is tearing down, held by the finalizer Gone: no controller that runs here has put it there/,
    ],
    action: "homeostat finalizer release test/int x Gone",
  },
  "an input that never comes": {
    controllers: [intToStr()],
    arrange: async () => undefined,
    asked: Str.ref("x"),
    steps: [
      /str\(default\/x\) does not exist; IntToStr writes its type/,
      /int\(default\/x\) does not exist, and no controller that is registered writes its type/,
    ],
  },
  "an output that nothing makes": {
    controllers: [],
    arrange: async () => undefined,
    asked: Str.ref("x"),
    steps: [/does not exist, and no controller that is registered writes its type/],
    action: "create it, or register the controller that does",
  },
  "a controller that fails, two links away": {
    controllers: [
      intToStr(() => {
        throw new Error("the disk is full");
      }),
      strToSentence(),
    ],
    arrange: (state) => state.create(Int.create("x", { value: 1 })),
    asked: Sentence.ref("x"),
    steps: [
      /sentence\(default\/x\) does not exist; StrToSentence/,
      /str\(default\/x\) does not exist; IntToStr/,
      "IntToStr failed: the disk is full",
    ],
  },
  "a writer that fails": {
    controllers: [
      intToStr(() => {
        throw new Error("the disk is full");
      }),
    ],
    arrange: (state) => state.create(Int.create("x", { value: 1 })),
    asked: Str.ref("x"),
    steps: [/IntToStr writes its type/, "IntToStr failed: the disk is full"],
    action: "mend what IntToStr fails with",
  },
  "an output that is out of date": {
    controllers: [
      intToStr((value) => {
        if (value > 1) throw new Error("too much");
        return "one";
      }),
    ],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }));
      await turns();
      await state.modify(Int, "x", () => ({ value: 2 }));
    },
    asked: Str.ref("x"),
    steps: ["IntToStr failed: too much"],
  },
  "a controller that waits, and says for what": {
    controllers: [
      intToStr(() => {
        throw new SkipError("the licence has not come yet");
      }),
    ],
    arrange: (state) => state.create(Int.create("x", { value: 1 })),
    asked: Int.ref("x"),
    steps: ["IntToStr waits: the licence has not come yet"],
  },
  "a teardown that waits for the one who asked": {
    controllers: [],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }));
      await state.teardown(Int.ref("x"));
    },
    asked: Int.ref("x"),
    steps: [/is torn down; nothing holds it, and the one who tore it down has to destroy it/],
    action: "homeostat delete test/int x",
  },
  "a teardown whose owner does not run": {
    controllers: [],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }), { owner: "Elsewhere" });
      await state.teardown(Int.ref("x"), { owner: "Elsewhere" });
    },
    asked: Int.ref("x"),
    steps: [/Elsewhere has to destroy it/, "no controller called Elsewhere is registered"],
    action: "start the program that runs Elsewhere",
  },
  "a teardown that hangs at the end of a chain": {
    controllers: [
      intToStr(),
      strToSentence(() => {
        throw new Error("the guest does not answer");
      }),
    ],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }));
      await turns();
      await state.teardown(Int.ref("x"));
    },
    asked: Int.ref("x"),
    steps: [
      /int\(default\/x\) is tearing down, held by the finalizer IntToStr of IntToStr/,
      /str\(default\/x\) is tearing down, held by the finalizer StrToSentence of StrToSentence/,
      "StrToSentence failed: the guest does not answer",
    ],
    action: "mend what StrToSentence fails with",
  },
  "a reconcile that does not end": {
    controllers: [queueController({ name: "Slow", primary: Int, reconcile: wait })],
    arrange: (state) => state.create(Int.create("x", { value: 1 })),
    asked: Int.ref("x"),
    steps: ["Slow is at work on it"],
  },
  "a key behind one that does not end": {
    controllers: [queueController({ name: "Slow", primary: Int, reconcile: wait })],
    arrange: async (state) => {
      await state.create(Int.create("w", { value: 1 }));
      await state.create(Int.create("x", { value: 1 }));
    },
    asked: Int.ref("x"),
    steps: ["Slow will look at it"],
  },
  "a classic controller that has ended": {
    controllers: [
      controller({ name: "Once", inputs: [weak(Int)], outputs: [exclusive(Str)], run: async () => undefined }),
    ],
    arrange: (state) => state.create(Int.create("x", { value: 1 })),
    asked: Int.ref("x"),
    steps: ["Once has ended for good"],
    action: "start the program that runs Once again",
  },
  "two that wait for each other": {
    controllers: [
      queueController({
        name: "A",
        primary: Int,
        inputs: [mapped(Str, () => [])],
        outputs: [exclusive(Str)],
        async reconcile({ ref, state }) {
          const int = await state.getOrNull(ref);
          if (int?.metadata.phase === "running") await state.addFinalizer(ref, "A");
          await state.modify(Str, ref.id, () => ({ value: "x" }), { expectedPhase: "any" });
          if (int?.metadata.phase === "tearingDown") await state.teardown(Str.ref(ref.id));
        },
      }),
      queueController({
        name: "B",
        primary: Str,
        outputs: [exclusive(Int)],
        async reconcile({ ref, state }) {
          const str = await state.getOrNull(ref);
          if (str?.metadata.phase === "running") await state.addFinalizer(ref, "B");
        },
      }),
    ],
    arrange: async (state) => {
      await state.create(Int.create("x", { value: 1 }), { owner: "B" });
      await turns();
      await state.teardown(Int.ref("x"), { owner: "B" });
    },
    asked: Int.ref("x"),
    steps: [
      /int\(default\/x\) is tearing down, held by the finalizer A of A/,
      /str\(default\/x\) is tearing down, held by the finalizer B of B/,
      /int\(default\/x\) is held up by what is told above: they wait for each other/,
    ],
  },
};

describe("what is stuck is explained", () => {
  test.each(Object.entries(WORLDS))("%s", async (_, { controllers, arrange, asked, steps, action }) => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    await using engine = await startEngine(state, controllers, { clock, random: () => 0.5 });
    await turns();
    await arrange(state);
    await turns();
    const explanation = await engine.runtime.explain(asked);
    const told = explanation.steps.map(({ what }) => what);
    let at = 0;
    for (const wanted of steps) {
      const found = told.findIndex(
        (what, index) => index >= at && (typeof wanted === "string" ? what === wanted : wanted.test(what)),
      );
      expect(found, `${String(wanted)} in:\n${told.join("\n")}`).toBeGreaterThanOrEqual(0);
      at = found + 1;
    }
    expect(explanation.actions.join("\n")).toContain(action ?? "");
  });

  test("what is not stuck has no steps", async () => {
    const state = new MemoryState();
    await using engine = await startEngine(state, [intToStr(), strToSentence()]);
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    for (const ref of [Int.ref("x"), Str.ref("x"), Sentence.ref("x")]) {
      expect(await engine.runtime.explain(ref)).toMatchObject({ steps: [], actions: [] });
    }
  });

  test("since when, and when it is tried again", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    const failing = intToStr(() => {
      throw new Error("no");
    });
    await using engine = await startEngine(state, [failing], { clock, random: () => 0.5 });
    await turns();
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    const since = clock.now();
    await clock.advance(600);
    await turns();
    expect(await engine.runtime.explain(Int.ref("x"))).toMatchObject({
      steps: [{ controller: "IntToStr", sinceMs: since, dueInMs: 150 }],
    });
  });
});

test("controllers are told of: what they declared, what they do, and what failed last", async () => {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const broken = controller({
    name: "Broken",
    inputs: [weak(Int)],
    reconcile() {
      throw new Error("broken");
    },
  });
  const failing = intToStr((value) => {
    if (value === 13) throw new Error("bad luck");
    return String(value);
  });
  await using engine = await startEngine(state, [failing, broken], { clock, random: () => 0.5 });
  await state.create(Int.create("x", { value: 13 }));
  await turns();
  expect(engine.runtime.controllers()).toEqual([
    {
      name: "IntToStr",
      form: "queue",
      state: "waiting",
      queueLength: 1,
      processing: 0,
      lastFailure: { message: "bad luck", atMs: clock.now(), id: "x" },
      inputs: [
        { kind: "primary", namespace: "default", type: Int.type, id: undefined },
        { kind: "mappedDestroyReady", namespace: "default", type: Str.type, id: undefined },
      ],
      outputs: [{ kind: "exclusive", type: Str.type }],
    },
    {
      name: "Broken",
      form: "classic",
      state: "backoff",
      queueLength: 0,
      processing: 0,
      dueInMs: 500,
      lastFailure: { message: "broken", atMs: clock.now() },
      inputs: [{ kind: "weak", namespace: "default", type: Int.type, id: undefined }],
      outputs: [],
    },
  ]);
});
