import { describe, expect, test } from "vitest";
import {
  cleanup,
  destroyReady,
  hasNoOutputs,
  removeOutputs,
  SkipError,
  weak,
  type CleanupHandler,
} from "../../src/controller/index.ts";
import { equal, Phase } from "../../src/resource/index.ts";
import { assertLength, assertNoResource, assertResource, eventually } from "../../src/testing/index.ts";
import { A, B, C, STORES, World } from "./world.ts";

const children = ({ metadata }: { readonly metadata: { readonly id: string } }) => ({
  labels: [equal("parent", metadata.id)],
});

/** Three parents, and children: 1 and 2 of the first, 3 of the second, 4 of nobody, 5 of the third. */
async function createFamily(world: World): Promise<void> {
  for (const id of ["1", "2", "3"]) await world.state.create(A.create(id, { text: id, int: 1 }));
  for (const [id, parent] of Object.entries({ 1: "1", 2: "1", 3: "2", 5: "3" })) {
    await world.state.create(B.create(id, { out: "x", count: 0 }, { labels: { parent } }));
    await world.state.create(C.create(id, { aux: 0 }, { labels: { parent } }));
  }
  await world.state.create(B.create("4", { out: "x", count: 0 }, { labels: { other: "1" } }));
}

const isHeld = (world: World, id: string, phase: Phase = Phase.running) =>
  assertResource(world.state, A, id, ({ metadata }) =>
    expect(metadata).toMatchObject({ finalizers: ["Clean"], phase }),
  );

describe.each(STORES)("cleanup, %s", (store) => {
  test("[engine T-70] an input is held while something depends on it", async () => {
    await using world = await World.open(store);
    await createFamily(world);
    await world.start(cleanup({ name: "Clean", input: A, handlers: [hasNoOutputs(B, children)] }));
    for (const id of ["1", "2", "3"]) await isHeld(world, id);
    for (const id of ["1", "2"]) expect(await world.state.teardown(A.ref(id))).toBe(false);
    await isHeld(world, "1", Phase.tearingDown);
    for (const id of ["1", "2", "3"]) await world.state.destroy(B.ref(id));
    for (const id of ["1", "2"]) await world.state.teardownAndDestroy(A.ref(id));
    await assertLength(world.state, B, 2);
    await isHeld(world, "3");
  });

  test("[engine T-71] it removes what depends on an input, and waits for what others hold", async () => {
    await using world = await World.open(store);
    await createFamily(world);
    for (const id of ["1", "3"]) await world.state.addFinalizer(B.ref(id), "held");
    await world.start(cleanup({ name: "Clean", input: A, handlers: [removeOutputs(B, children)] }));
    for (const id of ["1", "2", "3"]) await isHeld(world, id);
    for (const id of ["1", "2"]) await world.state.teardown(A.ref(id));
    await assertNoResource(world.state, B, "2");
    for (const id of ["1", "3"]) {
      await assertResource(world.state, B, id, ({ metadata }) => expect(metadata.phase).toBe(Phase.tearingDown));
    }
    await isHeld(world, "1", Phase.tearingDown);
    for (const id of ["1", "3"]) await world.state.removeFinalizer(B.ref(id), "held");
    for (const id of ["1", "2"]) await world.state.teardownAndDestroy(A.ref(id));
    await assertLength(world.state, B, 2);
    await isHeld(world, "3");
  });

  test("[engine T-72] what belongs to other owners is left alone, unless they are named", async () => {
    await using world = await World.open(store);
    for (const [id, owner] of Object.entries({ 1: "", 2: "some-controller", 3: "user-owner" })) {
      await world.state.create(A.create(id, { text: id, int: 1 }));
      await world.state.create(B.create(id, { out: "x", count: 0 }, { labels: { parent: id } }), { owner });
    }
    const handlers = [removeOutputs(B, children, { owners: ["some-controller"] })];
    await world.start(cleanup({ name: "Clean", input: A, handlers }));
    for (const id of ["1", "2", "3"]) await isHeld(world, id);
    for (const id of ["1", "2", "3"]) await world.state.teardownAndDestroy(A.ref(id));
    await assertLength(world.state, B, 1);
    expect((await world.state.get(B, "3")).metadata.phase).toBe(Phase.running);
  });

  test("[engine T-73] several handlers are asked in order, and all have to agree", async () => {
    await using world = await World.open(store);
    await createFamily(world);
    const handlers = [hasNoOutputs(B, children), hasNoOutputs(C, children)];
    await world.start(cleanup({ name: "Clean", input: A, handlers }));
    for (const id of ["1", "2", "3"]) await isHeld(world, id);
    for (const id of ["1", "2"]) await world.state.teardown(A.ref(id));
    for (const id of ["1", "2", "3"]) await world.state.destroy(B.ref(id));
    await isHeld(world, "1", Phase.tearingDown);
    for (const id of ["1", "2", "3"]) await world.state.destroy(C.ref(id));
    for (const id of ["1", "2"]) await world.state.teardownAndDestroy(A.ref(id));
    await assertLength(world.state, B, 2);
    await assertLength(world.state, C, 1);
    await isHeld(world, "3");
  });

  test("a handler of one's own: one input that fails holds up no other", async () => {
    await using world = await World.open(store);
    await createFamily(world);
    const own: CleanupHandler<typeof A> = {
      inputs: [weak(C)],
      async finalize({ input, state }) {
        if (input.spec.text === "1") throw new Error("broken");
        if ((await state.getOrNull(C, "permit")) === undefined) throw new SkipError("waits for its permit");
      },
    };
    const engine = await world.start(cleanup({ name: "Clean", input: A, handlers: [own] }));
    for (const id of ["1", "2", "3"]) await isHeld(world, id);
    for (const id of ["1", "2"]) await world.state.teardown(A.ref(id));
    await eventually(() => expect(engine.metric("controller_crashes", "Clean")).toBeGreaterThan(0));
    await world.state.create(C.create("permit", { aux: 1 }));
    await world.state.teardownAndDestroy(A.ref("2"));
    await isHeld(world, "1", Phase.tearingDown);
  });
});

test("what cannot be is refused at construction", () => {
  expect(() => cleanup({ name: "Clean", input: A, handlers: [] })).toThrow("cleanup Clean needs a handler");
  expect(() => cleanup({ name: "", input: A, handlers: [hasNoOutputs(B, children)] })).toThrow("cleanup needs a name");
  const handlers = [hasNoOutputs(B, children), removeOutputs(B, children)];
  expect(() => cleanup({ name: "Clean", input: A, handlers })).toThrow(
    "one handler reads Bs.ready.example.dev as weak, another as destroyReady",
  );
});

test("inputs and outputs that several handlers declare are declared once", () => {
  const handlers = [
    removeOutputs(B, children),
    removeOutputs(B, () => ({})),
    { inputs: [destroyReady(C)], finalize() {} },
  ];
  const { inputs, outputs } = cleanup({ name: "Clean", input: A, handlers });
  expect(inputs?.map(({ kind, resource }) => `${kind} ${resource.type}`)).toEqual([
    `strong ${A.type}`,
    `destroyReady ${B.type}`,
    `destroyReady ${C.type}`,
  ]);
  expect(outputs?.map(({ kind, resource }) => `${kind} ${resource.type}`)).toEqual([`shared ${B.type}`]);
});
