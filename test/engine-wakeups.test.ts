import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, exclusive, mapped, queueController, strong, weak } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Int, intToStrController, queueIntToStrController, RecordingLogger, Str } from "../src/testing/index.ts";
import { gate, startEngine, turns } from "./engine-fixture.ts";

/** Half-way between the bounds: restarts come after 500 ms, 750 ms, … */
const random = () => 0.5;

async function setInt(state: MemoryState, id: string, value: number): Promise<void> {
  await state.updateWithConflicts(Int.ref(id), () => ({ value }));
}

describe("wake-ups", () => {
  test("100 changes while a controller is busy are one more cycle, which sees the last of them [engine X-6]", async () => {
    const state = new MemoryState();
    await state.create(Int.create("x", { value: 0 }));
    const busy = gate();
    const seen: number[] = [];
    await using engine = await startEngine(state, [
      controller({
        name: "A",
        inputs: [strong(Int)],
        async reconcile({ state: view }) {
          seen.push((await view.get(Int, "x")).spec.value);
          await busy.opened;
        },
      }),
    ]);
    await turns();
    for (let value = 1; value <= 100; value++) await setInt(state, "x", value);
    await turns();
    expect(seen).toEqual([0]);
    busy.open();
    await turns();
    expect(seen).toEqual([0, 100]);
    expect(engine.metric("controller_wakeups", "A")).toBe(2);
    await engine.stop();
  });

  test.each([
    { creates: 3, cache: [] },
    { creates: 20, cache: [] },
    { creates: 20, cache: [Int] },
  ])("$creates creations one after the other are at most two cycles", async ({ creates, cache }) => {
    const state = new MemoryState();
    const seen: number[] = [];
    await using engine = await startEngine(
      state,
      [
        controller({
          name: "A",
          inputs: [strong(Int)],
          async reconcile({ state: view }) {
            seen.push((await view.list(Int)).length);
          },
        }),
      ],
      { cache },
    );
    await turns();
    expect(seen).toEqual([0]);
    for (let value = 0; value < creates; value++) await state.create(Int.create(String(value), { value }));
    await turns();
    expect(seen.at(-1)).toBe(creates);
    expect(seen.length).toBeLessThanOrEqual(3);
    expect(engine.metric("controller_wakeups", "A")).toBe(seen.length);
    await engine.stop();
  });

  test("a classic controller is never entered twice at the same time", async () => {
    const state = new MemoryState();
    let inside = 0;
    let most = 0;
    let cycles = 0;
    await using engine = await startEngine(state, [
      controller({
        name: "A",
        inputs: [weak(Int), weak(Str)],
        async reconcile({ queueReconcile }) {
          most = Math.max(most, ++inside);
          if (cycles++ < 100) queueReconcile();
          await turns(1);
          inside--;
        },
      }),
    ]);
    for (let value = 0; value < 200; value++) {
      await state.create(Int.create(String(value), { value }));
      await state.create(Str.create(String(value), { value: "" }));
      await turns(1);
    }
    await turns();
    expect(most).toBe(1);
    expect(cycles).toBeGreaterThan(100);
    await engine.stop();
  });

  test("a classic and a queue controller work side by side on one input", async () => {
    const state = new MemoryState();
    await using classic = await startEngine(state, [intToStrController("default", "classic")]);
    await using queue = await startEngine(state, [queueIntToStrController("default", "queue")]);
    await state.create(Int.create("one", { value: 1 }));
    const outputs = async () => {
      await turns();
      const lists = await Promise.all(["classic", "queue"].map((namespace) => state.list(Str.in(namespace))));
      return lists.map((list) => list.map(({ spec }) => spec.value));
    };
    expect(await outputs()).toEqual([["1"], ["1"]]);
    expect([...(await state.get(Int, "one")).metadata.finalizers].sort()).toEqual([
      "QIntToStrController",
      "test/str(classic/one)",
    ]);
    await setInt(state, "one", 2);
    expect(await outputs()).toEqual([["2"], ["2"]]);
    await state.teardownAndDestroy(Int.ref("one"));
    expect(await outputs()).toEqual([[], []]);
    await classic.stop();
    await queue.stop();
  });
});

describe("backoff", () => {
  test("a change does not shorten the wait of a classic controller [engine X-7]", async () => {
    const state = new MemoryState();
    const clock = new ManualClock();
    let runs = 0;
    await using engine = await startEngine(
      state,
      [
        controller({
          name: "A",
          inputs: [strong(Int)],
          reconcile() {
            runs++;
            throw new Error("no");
          },
        }),
      ],
      { clock, random },
    );
    await clock.settle();
    expect(runs).toBe(1);
    for (let value = 0; value < 10; value++) {
      await state.create(Int.create(String(value), { value }));
      await clock.advance(49);
    }
    expect(runs).toBe(1);
    await clock.advance(10);
    expect(runs).toBe(2);
    await engine.stop();
    expect(clock.pending).toBe(0);
  });

  test("a change makes a key of a queue controller due at once [engine X-7]", async () => {
    const state = new MemoryState();
    const clock = new ManualClock();
    const runs: string[] = [];
    await state.create(Int.create("failing", { value: 0 }));
    await state.create(Int.create("other", { value: 0 }));
    await using engine = await startEngine(
      state,
      [
        queueController({
          name: "Q",
          primary: Int,
          reconcile({ ref }) {
            runs.push(ref.id);
            throw new Error("no");
          },
        }),
      ],
      { clock, random },
    );
    await clock.settle();
    expect(runs).toEqual(["failing", "other"]);
    await setInt(state, "failing", 1);
    await clock.settle();
    expect(runs).toEqual(["failing", "other", "failing"]);
    // The sequence of waits goes on where it was: the next wait is the second.
    await clock.advance(749);
    expect(runs.filter((id) => id === "failing")).toHaveLength(2);
    await clock.advance(1);
    expect(runs.filter((id) => id === "failing")).toHaveLength(3);
    await engine.stop();
    expect(clock.pending).toBe(0);
  });

  test("a clean cycle starts the waits over", async () => {
    const state = new MemoryState();
    const clock = new ManualClock();
    const outcomes = ["fail", "fail", "succeed", "fail"];
    const waitsMs: (number | undefined)[] = [];
    let wake = (): void => {};
    await using engine = await startEngine(
      state,
      [
        controller({
          name: "A",
          reconcile({ queueReconcile }) {
            wake = queueReconcile;
            if (outcomes.shift() === "fail") throw new Error("no");
          },
        }),
      ],
      { clock, random },
    );
    for (let attempt = 0; attempt < 2; attempt++) {
      await clock.settle();
      waitsMs.push(clock.nextInMs);
      await clock.advance(clock.nextInMs ?? 0);
    }
    expect(outcomes).toEqual(["fail"]);
    wake();
    await clock.settle();
    waitsMs.push(clock.nextInMs);
    expect(waitsMs).toEqual([500, 750, 500]);
    await engine.stop();
  });

  test("after a day of failures it still tries, every 90 seconds at the latest", async () => {
    const clock = new ManualClock();
    const startsMs: number[] = [];
    await using engine = await startEngine(
      new MemoryState(),
      [
        controller({
          name: "A",
          reconcile() {
            startsMs.push(clock.monotonic());
            throw new Error("no");
          },
        }),
      ],
      { clock, random: () => 0.999 },
    );
    await clock.advance(24 * 3_600_000);
    const gapsMs = startsMs.slice(1).map((startMs, index) => startMs - (startsMs[index] ?? 0));
    expect(Math.max(...gapsMs)).toBeGreaterThan(89_000);
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(90_000);
    expect(startsMs.at(-1)).toBeGreaterThan(24 * 3_600_000 - 90_001);
    await engine.stop();
  });
});

describe("what controllers throw", () => {
  const THROWN: readonly (readonly [string, () => Promise<void> | void])[] = [
    [
      "throws synchronously",
      () => {
        throw new Error("now");
      },
    ],
    ["rejects", () => Promise.reject(new Error("later"))],
    ["throws a text", () => Promise.reject("text" as unknown as Error)],
    ["throws undefined", () => Promise.reject(undefined as unknown as Error)],
  ];

  test.each(THROWN)(
    "one classic controller that %s is started again, another is unaffected [engine X-13]",
    async (_, fail) => {
      const state = new MemoryState();
      const clock = new ManualClock();
      const log = new RecordingLogger();
      let failing = true;
      const runs = { a: 0, b: 0 };
      await using engine = await startEngine(
        state,
        [
          controller({
            name: "A",
            inputs: [weak(Int)],
            reconcile() {
              runs.a++;
              return failing ? fail() : undefined;
            },
          }),
          controller({ name: "B", inputs: [weak(Int)], reconcile: () => void runs.b++ }),
        ],
        { clock, random, logger: log },
      );
      await clock.settle();
      expect(runs).toEqual({ a: 1, b: 1 });
      await state.create(Int.create("x", { value: 1 }));
      await clock.settle();
      expect(runs).toEqual({ a: 1, b: 2 });
      failing = false;
      await clock.advance(500);
      expect(runs).toEqual({ a: 2, b: 2 });
      expect(engine.metric("controller_crashes", "A")).toBe(1);
      expect(engine.metric("controller_crashes", "B")).toBe(0);
      const failures = log.lines.filter(({ level }) => level === "error");
      expect(failures).toMatchObject([{ message: "controller failed", fields: { controller: "A" } }]);
      expect(failures[0]?.fields["error"]).toHaveProperty("stack", expect.stringMatching(/^Error: .*\n +at /));
      await setInt(state, "x", 2);
      await clock.settle();
      expect(runs).toEqual({ a: 3, b: 3 });
      await engine.stop();
    },
  );

  test.each(THROWN)("a queue controller whose every part %s goes on", async (_, fail) => {
    const state = new MemoryState();
    const clock = new ManualClock();
    let failing = true;
    const done = new Set<string>();
    const attempt = async (part: string) => {
      if (failing) await fail();
      done.add(part);
    };
    await state.create(Int.create("x", { value: 1 }));
    await using engine = await startEngine(
      state,
      [
        queueController({
          name: "Q",
          primary: Int,
          inputs: [mapped(Str)],
          outputs: [exclusive(Str)],
          reconcile: () => (failing ? (fail() as Promise<void>) : void done.add("reconcile")),
          mapInput: async () => {
            await attempt("map");
            return [];
          },
          runHook: () => attempt("hook"),
          shutdownHook: () => attempt("shutdown"),
        }),
      ],
      { clock, random },
    );
    await clock.settle();
    await state.create(Str.create("x", { value: "" }));
    await clock.settle();
    expect([...done]).toEqual([]);
    expect(engine.metric("qcontroller_crashes", "Q")).toBe(2);
    failing = false;
    await clock.advance(500);
    expect([...done].sort()).toEqual(["hook", "map", "reconcile"]);
    failing = true;
    await engine.stop();
  });
});
