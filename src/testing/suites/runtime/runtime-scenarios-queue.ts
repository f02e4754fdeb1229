import assert from "node:assert/strict";
import { SystemClock } from "../../../clock/index.ts";
import { withSpec } from "../../../resource/index.ts";
import {
  LAST_HOOK_RUN,
  queueFailingController,
  queueIntToStrController,
  queueSleepingController,
} from "./conformance-queue-controllers.ts";
import { Int, Str } from "../conformance-resources.ts";
import type { RuntimeScenario } from "./runtime-world.ts";

/** Queue controllers: T-12 … T-14 of section 22.1 of the specification. */
export const queueScenarios: readonly RuntimeScenario[] = [
  {
    name: "[engine T-12] a queue controller follows its keys, is held by finalizers, and runs its hooks",
    run: async (world) => {
      const ints = Int.in("q-int");
      const strs = Str.in("q-str");
      let shutDown = false;
      await world.register(queueIntToStrController("q-int", "q-str", () => (shutDown = true)));
      await world.createInt("q-int", "id1", 1);
      await world.createInt("q-int", "id2", 2);
      world.start();
      await world.values(strs, { id1: "1", id2: "2" });
      await world.createInt("q-int", "id3", 3);
      await world.values(strs, { id1: "1", id2: "2", id3: "3" });

      await world.state.update(withSpec(await world.state.get(ints, "id2"), { value: 22 }));
      await world.values(strs, { id1: "1", id2: "22", id3: "3" });

      assert.equal(await world.state.teardown(ints.ref("id1")), false, "id1 is held by the controller's finalizer");
      await world.finalizersEmpty(ints.ref("id1"));
      await world.state.destroy(ints.ref("id1"));
      await world.values(strs, { id2: "22", id3: "3" });

      await world.state.addFinalizer(strs.ref("id2"), "my-finalizer");
      assert.equal(await world.state.teardown(ints.ref("id2")), false, "id2 is held by the controller's finalizer");
      // What is gone never "exists without finalizers", and what is held keeps its own.
      await Promise.all(
        ["id1", "id2"].map(async (id) => {
          await assert.rejects(world.finalizersEmpty(ints.ref(id), 1_000), /not empty within 1000 ms/);
        }),
      );
      await world.state.removeFinalizer(strs.ref("id2"), "my-finalizer");
      await world.finalizersEmpty(ints.ref("id2"));
      await world.state.destroy(ints.ref("id2"));
      await world.values(strs, { id3: "3" });

      await world.eventually(async () => {
        const { spec } = await world.state.get(LAST_HOOK_RUN);
        const agoMs = new SystemClock().now() - Date.parse(spec.value);
        assert.ok(agoMs <= 1_000, `the run hook wrote ${agoMs} ms ago`);
      });
      assert.equal(shutDown, false, "the shutdown hook comes last");
      await world.stop();
      assert.equal(shutDown, true, "the shutdown hook was called");
    },
  },
  {
    name: "[engine T-13] keys that fail, panic or requeue do not hold others up, and a change gets them going again",
    run: async (world) => {
      const strs = Str.in("q-fail-in");
      const target = Str.in("q-fail-out");
      await world.register(queueFailingController("q-fail-in", "q-fail-out"));
      await world.createStr("q-fail-in", "id1", "fail");
      await world.createStr("q-fail-in", "id2", "panic");
      world.start();
      await world.createStr("q-fail-in", "id3", "requeue_no_error");
      await world.createStr("q-fail-in", "id4", "requeue_with_error");
      await world.createStr("q-fail-in", "id5", "ok");
      await world.values(target, { id5: "ok" });
      const fix = async (id: string): Promise<void> => {
        await world.state.updateWithConflicts(strs.ref(id), () => ({ value: "no fail" }));
      };
      await fix("id3");
      await world.values(target, { id3: "no fail", id5: "ok" });
      await fix("id4");
      await fix("id2");
      await world.values(target, { id2: "no fail", id3: "no fail", id4: "no fail", id5: "ok" });
    },
  },
  {
    name: "[engine T-14] one worker does one key at a time, and a teardown interrupts it",
    run: async (world) => {
      const ints = Int.in("q-sleep-in");
      const strs = Str.in("q-sleep-out");
      await world.register(queueSleepingController("q-sleep-in", "q-sleep-out"));
      await world.createInt("q-sleep-in", "id1", 1);
      await world.createInt("q-sleep-in", "id2", 2);
      world.start();
      await world.values(strs, { id1: "1", id2: "2" });
      await world.createInt("q-sleep-in", "id3", 3);
      await world.values(strs, { id1: "1", id2: "2", id3: "3" });

      await world.createInt("q-sleep-in", "id10s", 10_000);
      await world.pause(500);
      await world.createInt("q-sleep-in", "id4", 4);
      await world.createInt("q-sleep-in", "id5", 5);
      await world.pause(500);
      await world.valuesNow(strs, { id1: "1", id2: "2", id3: "3" });

      await world.state.teardown(ints.ref("id10s"));
      await world.finalizersEmpty(ints.ref("id10s"), 2_000);
      await world.state.destroy(ints.ref("id10s"));
      await world.values(strs, { id1: "1", id2: "2", id3: "3", id4: "4", id5: "5" }, 3_000);
    },
  },
];
