import { describe, expect, test } from "vitest";
import {
  controller,
  destroyReady,
  exclusive,
  mapped,
  mappedDestroyReady,
  shared,
  strong,
  weak,
  type Controller,
  type Input,
  type QueueController,
} from "../controller/index.ts";
import { silentLogger } from "../log/index.ts";
import { MemoryState } from "../memory/index.ts";
import { Int, Sentence, Str } from "../testing/index.ts";
import { RegistrationError } from "./registration-error.ts";
import { Runtime } from "./runtime.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

const idle = (): void => undefined;

const runtimeOn = (state = new MemoryState(), options: RuntimeOptions = {}) =>
  new Runtime(state, { logger: silentLogger, ...options });

/** A controller of either form with nothing to do. */
const classic = (name: string, definition: Partial<Controller> = {}): Controller => ({
  name,
  reconcile: idle,
  ...definition,
});
const queue = (name: string, definition: Partial<QueueController> = {}): QueueController => {
  return { name, primary: Int, reconcile: idle, ...definition } as QueueController;
};

describe("registration", () => {
  test("a failing one leaves the graph as it was; corrected, it works [engine X-2]", async () => {
    const runtime = runtimeOn();
    await runtime.register(classic("Other", { inputs: [weak(Int)], outputs: [exclusive(Sentence)] }));
    const before = runtime.graph().edges;
    const wrong: [string, Controller | QueueController][] = [
      ["output_conflict", classic("Me", { inputs: [strong(Int)], outputs: [exclusive(Str), exclusive(Sentence)] })],
      ["duplicate_output", classic("Me", { outputs: [shared(Str), shared(Str)] })],
      ["duplicate_input", classic("Me", { outputs: [exclusive(Str)], inputs: [weak(Int), strong(Int)] })],
      ["invalid_input", classic("Me", { outputs: [exclusive(Str)], inputs: [mapped(Int) as never] })],
      ["invalid_input", classic("Me", { inputs: [weak(Int, "")] })],
      ["invalid_input", queue("Me", { inputs: [weak(Str) as never] })],
      ["duplicate_input", queue("Me", { inputs: [mappedDestroyReady(Int, () => [])] })],
      ["invalid_controller", queue("Me", { inputs: [mapped(Str)] })],
      ["invalid_controller", { name: "Me" }],
      // What a cycle of imports leaves of a type.
      ["invalid_input", classic("Me", { inputs: [weak(undefined as never)] })],
      ["invalid_input", classic("Me", { inputs: [undefined as never] })],
      ["invalid_output", classic("Me", { outputs: [exclusive(undefined as never)] })],
      ["invalid_output", classic("Me", { outputs: [{ ...shared(Str), kind: "sole" } as never] })],
      ["invalid_controller", queue("Me", { primary: undefined as never })],
      ["invalid_controller", queue("Me", { primary: [Int, undefined as never] })],
      ["invalid_controller", classic("Me", { run: async () => undefined })],
      ["invalid_controller", classic("")],
      ...[0, -1, 1.5, Number.NaN].map((concurrency): [string, QueueController] => {
        return ["invalid_concurrency", queue("Me", { concurrency })];
      }),
    ];
    for (const [code, one] of wrong) {
      const error: unknown = await runtime.register(one).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RegistrationError);
      expect(error).toMatchObject({ code, message: expect.stringContaining("setting up the adapter of controller") });
      expect(runtime.graph().edges).toEqual(before);
      expect(() =>
        runtimeOn(undefined, { controllers: [classic("Other", { outputs: [exclusive(Sentence)] }), one] }),
      ).toThrow(RegistrationError);
    }
    await runtime.register(classic("Me", { inputs: [strong(Int)], outputs: [exclusive(Str)] }));
    expect(runtime.graph().edges).toHaveLength(before.length + 2);
  });

  test.for([
    ['invalid output kind "sole"', { outputs: [{ ...shared(Str), kind: "sole" } as never] }],
    ["an output", { outputs: [exclusive(undefined as never)] }],
    ["an input", { inputs: [weak(undefined as never)] }],
    ["a dynamic input", { dynamicInputs: [undefined as never] }],
  ] as const)("a refusal names what is wrong: %s", async ([text, definition]) => {
    await expect(runtimeOn().register(classic("Me", definition))).rejects.toThrow(text);
  });

  test("one whose kind cannot be watched leaves nothing behind in a running runtime [engine X-2]", async () => {
    const state = new MemoryState();
    let refuse = true;
    const watchKindBatches: MemoryState["watchKindBatches"] = async (
      kind: Parameters<MemoryState["list"]>[0],
      options?: object,
    ) => {
      if (refuse && kind.type === Int.type) throw new Error("no watch today");
      return MemoryState.prototype.watchKindBatches.call(state, kind, options) as never;
    };
    Object.assign(state, { watchKindBatches });
    await using runtime = runtimeOn(state);
    const running = runtime.run();
    const me = classic("Me", { inputs: [strong(Int)], outputs: [exclusive(Str)] });
    await expect(runtime.register(me)).rejects.toMatchObject({ code: "watch_failed", message: /"Me".*no watch today/ });
    expect(runtime.graph().edges).toEqual([]);
    expect(runtime.metrics.value("controller_wakeups", "Me")).toBe(0);
    refuse = false;
    await runtime.register(me);
    expect(runtime.graph().edges).toHaveLength(2);
    expect(runtime.metrics.value("controller_wakeups", "Me")).toBe(1);
    await runtime[Symbol.asyncDispose]();
    await running;
  });

  test("names are taken by both forms alike; run() works once; after the stop nothing is taken [engine X-3]", async () => {
    const runtime = runtimeOn();
    await runtime.register(classic("A"));
    await runtime.register(queue("B"));
    for (const again of [queue("A"), classic("A"), queue("B"), classic("B")]) {
      await expect(runtime.register(again)).rejects.toMatchObject({
        code: "name_taken",
        controller: again.name,
        message: expect.stringContaining(`"${again.name}"`),
      });
    }
    const stop = new AbortController();
    const running = runtime.run({ signal: stop.signal });
    await expect(runtime.run()).rejects.toThrow(/already started/);
    await runtime.register(classic("C"));
    stop.abort();
    await running;
    await expect(runtime.run()).rejects.toThrow(/already started/);
    await expect(runtime.register(classic("D"))).rejects.toMatchObject({ code: "stopped", controller: "D" });
    expect(runtime.graph().edges.map((edge) => edge.controller)).toEqual(["B"]);
  });

  test("is recorded at once, with the edges of each form", async () => {
    const runtime = runtimeOn(undefined, {
      controllers: [
        classic("A", { inputs: [strong(Int), destroyReady(Str, "x")], outputs: [exclusive(Str)] }),
        queue("B", { inputs: [mapped(Str, () => [])], outputs: [shared(Sentence)] }),
      ],
    });
    expect(runtime.graph().edges.map(({ controller: name, type, edge }) => `${name} ${edge} ${type}`)).toEqual([
      "A exclusive test/str",
      "B shared test/sentence",
      "A strong test/int",
      "A destroyReady test/str",
      "B primary test/int",
      "B mapped test/str",
    ]);
    expect(runtime.metrics.value("controller_wakeups", "A")).toBe(1);
    expect(runtime.metrics.value("controller_wakeups", "B")).toBe(0);
  });

  test("copies what the author declared", async () => {
    const inputs: Input[] = [weak(Int)];
    const runtime = runtimeOn(undefined, { controllers: [classic("A", { inputs: inputs as never })] });
    inputs.push(weak(Str));
    expect(runtime.graph().edges).toHaveLength(1);
  });
});

describe("UpdateInputs", () => {
  /** A classic controller that says what it was woken for, and does what it is told. */
  function remote() {
    const commands: (() => Promise<void>)[] = [];
    let cycles = 0;
    let context: Parameters<NonNullable<Controller["run"]>>[0] | undefined;
    const made = controller({
      name: "Me",
      inputs: [weak(Int)],
      dynamicInputs: [Int, Str],
      async run(given) {
        context = given as never;
        for await (const _ of given.wakeups) {
          cycles++;
          await commands.shift()?.();
        }
      },
    }) as unknown as Controller;
    const view = () => {
      if (context === undefined) throw new Error("the controller does not run");
      return context;
    };
    return { made, view, cycles: () => cycles };
  }

  const turns = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };

  test("adds, drops and changes inputs; rights and wake-ups follow; a duplicate changes nothing [engine X-4]", async () => {
    const state = new MemoryState();
    const { made, view, cycles } = remote();
    await using runtime = runtimeOn(state, { controllers: [made] });
    const running = runtime.run();
    await turns();
    expect(cycles()).toBe(1);
    const { state: reads, updateInputs } = view();
    const edges = () => runtime.graph().edges.map(({ edge, type, id }) => `${edge} ${type} ${id}`);
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    expect(cycles()).toBe(2);

    // add
    await expect(reads.list(Str)).rejects.toMatchObject({ code: "undeclared_read" });
    await updateInputs([weak(Int), strong(Str, "one")]);
    expect(edges()).toEqual(["weak test/int ", "strong test/str one"]);
    await turns();
    expect(cycles()).toBe(2);
    await state.create(Str.create("other", { value: "" }));
    await turns();
    expect(cycles()).toBe(2);
    await state.create(Str.create("one", { value: "" }));
    await turns();
    expect(cycles()).toBe(3);
    expect((await reads.get(Str, "one")).metadata.id).toBe("one");
    await expect(reads.addFinalizer(Int.ref("x"), "f")).rejects.toMatchObject({ code: "undeclared_finalizer" });

    // change the kind of one
    await updateInputs([strong(Int), strong(Str, "one")]);
    expect(edges()).toEqual(["strong test/int ", "strong test/str one"]);
    await reads.addFinalizer(Int.ref("x"), "f");
    await turns();
    expect(cycles()).toBe(4);

    // a duplicate, and an input of the other form
    for (const wrong of [
      [weak(Str), strong(Int), weak(Int)],
      [weak(Str), mapped(Int)],
    ]) {
      await expect(updateInputs(wrong as never)).rejects.toBeInstanceOf(RegistrationError);
      expect(edges()).toEqual(["strong test/int ", "strong test/str one"]);
      await expect(reads.list(Str)).rejects.toMatchObject({ code: "undeclared_read" });
    }

    // drop
    const list: Input[] = [strong(Str, "one")];
    await updateInputs(list as never);
    expect(edges()).toEqual(["strong test/str one"]);
    await expect(reads.get(Int, "x")).rejects.toMatchObject({ code: "undeclared_read" });
    await state.create(Int.create("y", { value: 1 }));
    await turns();
    expect(cycles()).toBe(4);
    await runtime[Symbol.asyncDispose]();
    await running;
  });

  test("adds no type that was not announced, and then changes nothing", async () => {
    const state = new MemoryState();
    await state.create(Str.create("secret", { value: "hunter2" }));
    const refusals: unknown[] = [];
    const reads: unknown[] = [];
    const made = controller({
      name: "Me",
      inputs: [weak(Int)],
      dynamicInputs: [Sentence],
      async reconcile({ state: view, updateInputs }) {
        for (const inputs of [[weak(Int), weak(Str)], [weak(Str)], [weak(Str.in("other"))], [strong(Str, "secret")]]) {
          await updateInputs(inputs as never).catch((error: unknown) => refusals.push(error));
          await view.get(Str as never, "secret").catch((error: unknown) => reads.push(error));
        }
        await updateInputs([weak(Int.in("other"), "x"), strong(Sentence)]);
      },
    });
    await using runtime = runtimeOn(state, { controllers: [made as unknown as Controller] });
    const running = runtime.run();
    await turns();
    expect(refusals).toHaveLength(4);
    for (const error of refusals) {
      expect(error).toBeInstanceOf(RegistrationError);
      expect(error).toMatchObject({ code: "invalid_input", controller: "Me" });
      expect((error as Error).message).toMatch(/"Me" cannot add test\/str.*dynamicInputs/);
    }
    expect(reads).toEqual(Array.from({ length: 4 }, () => expect.objectContaining({ code: "undeclared_read" })));
    expect(runtime.graph().edges.map(({ edge, type, id }) => `${edge} ${type} ${id}`)).toEqual([
      "strong test/sentence ",
      "weak test/int x",
    ]);
    await runtime[Symbol.asyncDispose]();
    await running;
  });
});
