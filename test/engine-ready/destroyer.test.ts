import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { destroyer } from "../../src/controller/index.ts";
import { Phase } from "../../src/resource/index.ts";
import { assertNoResource, eventually } from "../../src/testing/index.ts";
import { A, STORES, World } from "./world.ts";

describe.each(STORES)("destroyer, %s", (store) => {
  test.each([{}, { concurrency: 1 }])(
    "[engine T-74] what was torn down, and nobody owns or holds, is destroyed: %j",
    async (options) => {
      await using world = await World.open(store);
      const create = (id: string, owner = "") => world.state.create(A.create(id, { text: id, int: 1 }), { owner });
      const engine = await world.start(destroyer(A, options));
      await create("1");
      await world.state.teardown(A.ref("1"));
      await assertNoResource(world.state, A, "1");

      await create("1");
      await create("2", "another");
      await create("3");
      await world.state.addFinalizer(A.ref("1"), "held");
      await world.state.teardown(A.ref("1"));
      await world.state.teardown(A.ref("2"), { owner: "another" });
      await setTimeout(50);
      expect((await world.state.get(A, "1")).metadata.phase).toBe(Phase.tearingDown);
      await world.state.removeFinalizer(A.ref("1"), "held");
      await assertNoResource(world.state, A, "1");
      expect((await world.state.list(A)).map(({ metadata }) => metadata.id)).toEqual(["2", "3"]);
      await eventually(() => expect(engine.metric("qcontroller_crashes", `Destroy[${A.type}]`)).toBe(0));
    },
  );
});
