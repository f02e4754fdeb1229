import assert from "node:assert/strict";
import { equal, exists } from "../../../resource/index.ts";
import {
  failingController,
  intDoublerController,
  intToStrController,
  metricsController,
  modifyWithResultController,
  strToSentenceController,
  sumController,
} from "./conformance-controllers.ts";
import { Int, Sentence, Str } from "../conformance-resources.ts";
import type { RuntimeScenario, RuntimeWorld } from "./runtime-world.ts";

/** Tears an Int down that a controller holds, waits until it is let go, and runs `check` before it is destroyed. */
async function removeInt(
  world: RuntimeWorld,
  namespace: string,
  id: string,
  check: () => Promise<void>,
): Promise<void> {
  const ref = Int.in(namespace).ref(id);
  assert.equal(await world.state.teardown(ref), false, `${id} is held by the controller's finalizer`);
  await world.finalizersEmpty(ref);
  await check();
  await world.state.destroy(ref);
}

async function setInt(world: RuntimeWorld, namespace: string, id: string, value: number): Promise<number> {
  return (await world.state.updateWithConflicts(Int.in(namespace).ref(id), () => ({ value }))).spec.value;
}

/** The sentences must be exactly these, each of them with its label. */
async function sentences(world: RuntimeWorld, expected: Readonly<Record<string, string>>): Promise<void> {
  await world.values(Sentence.in("sentences"), expected);
  const list = await world.state.list(Sentence.in("sentences"));
  assert.deepEqual(
    list.map(({ metadata }) => metadata.labels["combined"]),
    list.map(() => ""),
    "the label that says how a sentence was made",
  );
}

async function failing(world: RuntimeWorld, panic: boolean): Promise<void> {
  const target = Int.in("target");
  await world.register(failingController("target", { panic }));
  world.start();
  await world.values(target, { 0: 0 }, 5_000);
  await world.values(target, { 0: 0, 1: 1 }, 5_000);
}

/** Classic controllers: T-1 … T-11 of section 22.1 of the specification. */
export const classicScenarios: readonly RuntimeScenario[] = [
  {
    name: "[engine T-1] an engine without controllers starts and stops",
    run: async (world) => {
      world.start();
    },
  },
  {
    name: "[engine T-2] every Int becomes a Str, follows its changes, and is held until its Str is gone",
    run: async (world) => {
      const strs = Str.in("default");
      await world.register(intToStrController("default", "default"));
      await world.createInt("default", "one", 1);
      world.start();
      await world.createInt("default", "two", 2);
      await world.values(strs, { one: "1", two: "2" });
      await world.createInt("default", "three", 3);
      await world.values(strs, { one: "1", two: "2", three: "3" });
      await setInt(world, "default", "three", 33);
      await world.values(strs, { one: "1", two: "2", three: "33" });
      await removeInt(world, "default", "three", () => world.values(strs, { one: "1", two: "2" }));
    },
  },
  {
    name: "[engine T-3] changes and teardowns pass through a chain of two controllers",
    run: async (world) => {
      await world.register(intToStrController("ints", "strings"), strToSentenceController("strings", "sentences"));
      await world.createInt("ints", "one", 1);
      world.start();
      await world.createInt("ints", "two", 2);
      await sentences(world, { one: "1 sentence", two: "2 sentence" });
      await world.createInt("ints", "three", 3);
      await sentences(world, { one: "1 sentence", two: "2 sentence", three: "3 sentence" });
      assert.equal(await setInt(world, "ints", "one", 11), 11);
      await sentences(world, { one: "11 sentence", two: "2 sentence", three: "3 sentence" });
      await removeInt(world, "ints", "one", () => sentences(world, { two: "2 sentence", three: "3 sentence" }));
    },
  },
  {
    name: "[engine T-4] a sum over no inputs exists, and follows creations and destructions",
    run: async (world) => {
      const target = Int.in("target");
      await world.register(
        sumController("SumController", { sourceNamespace: "source", targetNamespace: "target", targetId: "sum" }),
      );
      world.start();
      await world.values(target, { sum: 0 });
      await world.createInt("source", "one", 1);
      await world.createInt("source", "two", 2);
      await world.values(target, { sum: 3 });
      await world.state.destroy(Int.in("source").ref("one"));
      await world.values(target, { sum: 2 });
    },
  },
  {
    name: "[engine T-5] a controller that lists by labels sees only what matches",
    run: async (world) => {
      const target = Int.in("target");
      await world.register(
        sumController("SumController", {
          sourceNamespace: "source",
          targetNamespace: "target",
          targetId: "sum",
          labels: [exists("summable"), equal("app", "app1")],
        }),
      );
      world.start();
      await world.values(target, { sum: 0 });
      await world.createInt("source", "one", 1, { summable: "" });
      await world.createInt("source", "two", 2, { summable: "", app: "app1" });
      await world.values(target, { sum: 2 });
      await world.createInt("source", "three", 3, { summable: "yep", app: "app1" });
      await world.values(target, { sum: 5 });
      await world.state.destroy(Int.in("source").ref("two"));
      await world.values(target, { sum: 3 });
    },
  },
  {
    name: "[engine T-6] controllers that are registered while the engine runs share an output and feed each other",
    run: async (world) => {
      const target = Int.in("target");
      world.start();
      for (const [name, sourceNamespace, targetNamespace, targetId] of [
        ["SumController1", "source1", "source", "sum1"],
        ["SumController2", "source2", "source", "sum2"],
        ["SumController", "source", "target", "sum"],
      ] as const) {
        await world.register(sumController(name, { sourceNamespace, targetNamespace, targetId }));
      }
      await world.values(target, { sum: 0 });
      await world.createInt("source1", "one", 1);
      await world.createInt("source1", "two", 2);
      await world.createInt("source2", "three", 3);
      await world.createInt("source2", "four", 4);
      await world.values(target, { sum: 10 });
    },
  },
  {
    name: "[engine T-7] a controller that fails is started again",
    run: (world) => failing(world, false),
  },
  {
    name: "[engine T-8] a controller that panics is started again",
    run: (world) => failing(world, true),
  },
  {
    name: "[engine T-9] outputs without an input are cleaned up",
    run: async (world) => {
      const target = Int.in("target");
      await world.register(intDoublerController("default", "target"));
      await world.createInt("default", "one", 1);
      world.start();
      await world.createInt("default", "two", 2);
      await world.values(target, { one: 2, two: 4 });
      await world.createInt("default", "three", 3);
      await world.values(target, { one: 2, two: 4, three: 6 });
      await world.state.destroy(Int.in("default").ref("three"));
      await world.values(target, { one: 2, two: 4 });
    },
  },
  {
    name: "[engine T-10] modify resolves to what it wrote",
    run: async (world) => {
      const [source, target] = ["modify-with-result-source", "modify-with-result-target"] as const;
      await world.register(modifyWithResultController(source, target));
      world.start();
      const expected = (value: string) => ({
        "id-out": `${value}-modified`,
        "id-out-modify-result": `${value}-valid`,
      });
      await world.createStr(source, "id", "val-1");
      await world.values(Str.in(target), expected("val-1"));
      await world.state.updateWithConflicts(Str.in(source).ref("id"), () => ({ value: "val-2" }));
      await world.values(Str.in(target), expected("val-2"));
    },
  },
  {
    name: "[engine T-11] the metrics count wake-ups, reads, writes and crashes exactly",
    run: async (world) => {
      const name = "MetricsController";
      const cached = world.variant === "cached" ? 1 : 0;
      assert.equal(world.metric("controller_wakeups", name), 0);
      await world.register(metricsController(name, "metrics", "metrics"));
      assert.equal(world.metric("controller_wakeups", name), 1, "the first wake-up is due at registration");
      await world.createInt("metrics", "one", 1);
      world.start();
      await world.eventually(async () => {
        await world.state.get(Str.in("metrics"), "one");
        assert.equal(world.metric("controller_reads", name), 2 - cached, "reads");
        assert.equal(world.metric("controller_writes", name), 2, "writes");
      });
      await setInt(world, "metrics", "one", 42);
      await world.eventually(() => {
        assert.equal(world.metric("controller_wakeups", name), 2, "wake-ups");
        assert.equal(world.metric("controller_reads", name), 3 - 2 * cached, "reads");
        assert.equal(world.metric("controller_crashes", name), 1, "crashes");
      });
    },
  },
];
