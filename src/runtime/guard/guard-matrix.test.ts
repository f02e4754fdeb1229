import { describe, expect, test } from "vitest";
import {
  controller,
  destroyReady,
  exclusive,
  mapped,
  mappedDestroyReady,
  queueController,
  strong,
  UndeclaredError,
  weak,
  type Controller,
  type ControllerState,
  type QueueController,
} from "../../controller/index.ts";
import { silentLogger } from "../../log/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { type AnyResourceType, type Resource, defineResource, shape } from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { Runtime } from "../runtime.ts";

const define = (name: string) => defineResource({ type: `${name}.guard.example`, spec: shape({ value: "integer" }) });

const Output = define("Outputs");
const Weak = define("Weaks");
const Strong = define("Strongs");
const Ready = define("Readies");
const One = define("Ones");
const Undeclared = define("Undeclareds");
const TYPES = { Output, Weak, Strong, Ready, One, Undeclared };
type Target = keyof typeof TYPES;

/** Everything that a controller can call, on the resource `x` of a type, or on the type. */
const CALLS = {
  get: ({ state, type }) => state.get(type, "x"),
  getByRef: ({ state, type }) => state.get(type.ref("x")),
  getOrNull: ({ state, type }) => state.getOrNull(type, "x"),
  getOther: ({ state, type }) => state.getOrNull(type, "y"),
  list: ({ state, type }) => state.list(type),
  getUncached: ({ state, type }) => state.getUncached(type, "x"),
  listUncached: ({ state, type }) => state.listUncached(type),
  async signalWithTeardown({ state, type }) {
    await using _signal = await state.signalWithTeardown(type.ref("x"));
  },
  create: ({ state, type }) => state.create(type.create("new", { value: 1 } as never) as never),
  update: ({ state, stored }) => state.update(stored as never),
  modify: ({ state, type }) => state.modify(type, "x", () => ({ value: 2 }) as never),
  teardown: ({ state, type }) => state.teardown(type.ref("x")),
  destroy: ({ state, type }) => state.destroy(type.ref("x")),
  addFinalizer: ({ state, type }) => state.addFinalizer(type.ref("x"), "f"),
  removeFinalizer: ({ state, type }) => state.removeFinalizer(type.ref("x"), "f"),
} as const satisfies Record<
  string,
  (on: { state: ControllerState; type: AnyResourceType; stored: Resource }) => Promise<unknown>
>;
type Call = keyof typeof CALLS;

const READS: readonly Call[] = ["get", "getByRef", "getOrNull", "getUncached", "signalWithTeardown"];
const KIND_READS: readonly Call[] = ["getOther", "list", "listUncached"];
const WRITES: readonly Call[] = ["create", "update", "modify", "teardown", "destroy"];

/** The code of the refusal, or "allowed". `finalizable` are the targets that give a right to finalizers. */
function expected(call: Call, target: Target, finalizable: readonly Target[]): string {
  if (READS.includes(call)) return target === "Undeclared" ? "undeclared_read" : "allowed";
  if (KIND_READS.includes(call)) return target === "Undeclared" || target === "One" ? "undeclared_read" : "allowed";
  if (WRITES.includes(call)) return target === "Output" ? "allowed" : "undeclared_write";
  return finalizable.includes(target) ? "allowed" : "undeclared_finalizer";
}

function capture() {
  const { promise, resolve } = Promise.withResolvers<ControllerState>();
  return { captured: promise, reconcile: ({ state }: { state: unknown }): void => resolve(state as ControllerState) };
}

function classic() {
  const { captured, reconcile } = capture();
  const inputs = [weak(Weak), strong(Strong), destroyReady(Ready), strong(One, "x")];
  return { captured, made: controller({ name: "Me", inputs, outputs: [exclusive(Output)], reconcile }) as Controller };
}

function queue() {
  const { captured, reconcile } = capture();
  const map = () => [];
  const made = queueController({
    name: "Me",
    primary: Strong,
    inputs: [mapped(Weak, map), mappedDestroyReady(Ready, map), { ...mapped(One, map), id: "x" }],
    outputs: [exclusive(Output)],
    reconcile,
  });
  return { captured, made: made as unknown as QueueController };
}

async function setUp(cached: boolean, { captured, made }: ReturnType<typeof classic> | ReturnType<typeof queue>) {
  const state = new MemoryState({ types: Object.values(TYPES) });
  for (const type of Object.values(TYPES)) {
    const owner = type === Output ? "Me" : "";
    await state.create(type.create("x", { value: 1 }), { owner });
  }
  const runtime = new Runtime(state, {
    controllers: [made],
    logger: silentLogger,
    cache: cached ? Object.values(TYPES) : [],
  });
  const running = runtime.run();
  return { state: await captured, raw: state, runtime, running };
}

async function outcome(call: Call, target: Target, state: ControllerState, raw: State): Promise<string> {
  const type: AnyResourceType = TYPES[target];
  const stored = await raw.get(type.ref("x"));
  try {
    await CALLS[call]({ state, type, stored });
    return "allowed";
  } catch (error) {
    if (!(error instanceof UndeclaredError)) throw error;
    const { controller: name, pointer, message } = error;
    const named = name === "Me" && pointer.namespace === type.namespace && pointer.type === type.type;
    const told = message.includes(type.type) && message.includes('"Me"');
    return named && told ? error.code : `${error.code}, badly described: ${message}`;
  }
}

const FORMS = [
  { form: "classic", make: classic, finalizable: ["Strong", "One"] as Target[] },
  // Its weak one is a mapped input: there the controller may hold finalizers.
  { form: "queue", make: queue, finalizable: ["Strong", "One", "Weak"] as Target[] },
];

describe.for(FORMS.flatMap((form) => [false, true].map((cached) => ({ ...form, cached }))))(
  "a $form controller, cached: $cached",
  ({ make, finalizable, cached }) => {
    test.for(Object.keys(CALLS) as Call[])("is held to its declarations by %s [engine X-1]", async (call) => {
      const results: Record<string, string> = {};
      const wanted: Record<string, string> = {};
      for (const target of Object.keys(TYPES) as Target[]) {
        const { state, raw, runtime, running } = await setUp(cached, make());
        results[target] = await outcome(call, target, state, raw);
        wanted[target] = expected(call, target, finalizable);
        await runtime[Symbol.asyncDispose]();
        await running;
      }
      expect(results).toEqual(wanted);
    });
  },
);

test("a refused write costs a token, a refused call no read and no write", async () => {
  const state = new MemoryState();
  const { captured, made } = classic();
  const changeRateLimit = { perSecond: 0.001, burst: 1 };
  await using runtime = new Runtime(state, { controllers: [made], logger: silentLogger, changeRateLimit });
  const running = runtime.run();
  const view = await captured;
  await expect(view.destroy(Undeclared.ref("x"))).rejects.toMatchObject({ code: "undeclared_write" });
  await expect(view.get(Undeclared.ref("x"))).rejects.toMatchObject({ code: "undeclared_read" });
  expect(runtime.metrics.value("controller_reads", "Me")).toBe(0);
  expect(runtime.metrics.value("controller_writes", "Me")).toBe(0);
  const waiting = view.create(Output.create("x", { value: 1 }));
  await runtime[Symbol.asyncDispose]();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await running;
});
