import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, server } from "../src/grpc/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { AccessFilter, NamespaceRouter, wrapState, type State } from "../src/state/index.ts";
import { DeafState, FaultyState, InterceptedState, Int } from "../src/testing/index.ts";
import { turns } from "./engine-fixture.ts";

/** A State to watch, and how it ends. */
interface Given {
  readonly state: State;
  readonly end: () => Promise<void>;
}

const given = (state: State): Given => ({ state, end: async () => state[Symbol.asyncDispose]() });

const STATES: Readonly<Record<string, () => Promise<Given>>> = {
  memory: async () => given(new MemoryState({ types: [Int] })),
  "types checked on reading": async () => given(new MemoryState()),
  router: async () => given(wrapState(new NamespaceRouter(() => new MemoryState()))),
  filter: async () => given(wrapState(new AccessFilter(new MemoryState(), () => undefined))),
  intercepted: async () => given(wrapState(new InterceptedState(new MemoryState(), { deliver: () => turns(1) }))),
  faulty: async () => given(wrapState(new FaultyState(new MemoryState()))),
  deaf: async () => given(wrapState(new DeafState(new MemoryState(), [], { remote: true }))),
  remote: async () => {
    const folder = await mkdtemp(join(tmpdir(), "homeostat-two-next-"));
    const serving = server(new MemoryState(), { types: [Int] });
    await serving.listen(`unix:${join(folder, "s.sock")}`);
    const state = connect(`unix:${join(folder, "s.sock")}`, { types: [Int] });
    return {
      state,
      end: async () => {
        await state[Symbol.asyncDispose]();
        await serving.close({ graceMs: 0 });
        await rm(folder, { recursive: true });
      },
    };
  },
};

const WATCHES = {
  one: (state: State) => state.watch(Int, "a", { tailEvents: 1 }),
  kind: (state: State) => state.watchKind(Int),
  "kind, filtered": (state: State) => state.watchKind(Int, { ids: "a" }),
  batches: (state: State) => state.watchKindBatches(Int),
} as const;

describe.each(Object.keys(STATES))("on the State: %s", (name) => {
  test.each(Object.keys(WATCHES) as (keyof typeof WATCHES)[])(
    "of three next() at once each settles: %s",
    async (kind) => {
      const { state, end } = await (STATES[name] as () => Promise<Given>)();
      const watch = await WATCHES[kind](state);
      const nexts = [watch.next(), watch.next(), watch.next()];
      await state.create(Int.create("a", { value: 1 }));
      const [first] = [await nexts[0]];
      expect(first?.done).not.toBe(true);
      // One comes while two wait, another after it; the last one only learns of the end.
      await state.modify(Int, "a", () => ({ value: 2 }));
      const second = await nexts[1];
      expect(second?.done).not.toBe(true);
      expect(second?.value).not.toEqual(first?.value);
      await watch[Symbol.asyncDispose]();
      expect(await nexts[2]).toEqual({ done: true, value: undefined });
      expect(await Promise.all([watch.next(), watch.next()])).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      await end();
    },
  );
});
