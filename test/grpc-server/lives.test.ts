import { describe, expect, test } from "vitest";
import { MemoryState } from "../../src/memory/index.ts";
import { Status } from "../../src/rpc/index.ts";
import { momentOf, type Resource } from "../../src/resource/index.ts";
import { PathResource } from "../../src/testing/index.ts";
import { failureOf, reasonOf, Served } from "./fixture.ts";

const ref = PathResource.ref("a");
const address = { namespace: ref.namespace, type: ref.type, id: ref.id };

/** A time of creation as the wire has it. */
function instant({ metadata }: Resource): { seconds: bigint; nanos: number } {
  const { ms, nanos } = momentOf(metadata.created);
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 + nanos };
}

async function twoLives(state: MemoryState): Promise<readonly [Resource, Resource]> {
  const first = await state.create(PathResource.create("a", {}));
  await state.destroy(ref);
  return [first, await state.create(PathResource.create("a", {}))];
}

const update = (version: string, created: Resource) => ({
  metadata: { ...address, version, phase: "running", created: instant(created), labels: { written: "yes" } },
  spec: {},
});

describe("a client that names a life", () => {
  test("updates that one and no other", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    const [first, second] = await twoLives(state);
    const late = failureOf(peer.update({ newResource: update("1", first), options: { life: instant(first) } }));
    expect(await late).toMatchObject({ code: Status.failedPrecondition });
    expect(reasonOf(await late).reason).toBe("VERSION_CONFLICT");
    expect(await state.get(ref)).toBe(second);
    // What the metadata says does not matter.
    await peer.update({ newResource: update("1", first), options: { life: instant(second) } });
    expect((await state.get(ref)).metadata).toMatchObject({ version: "2", created: second.metadata.created });
  });

  test("tears that one down and destroys it, and learns that it was compared", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    const [first, second] = await twoLives(state);
    const late = { ...address, options: { life: instant(first) } };
    for (const call of [peer.teardown(late), peer.destroy(late), peer.teardownAndDestroy(late)]) {
      expect(reasonOf(await failureOf(call)).reason).toBe("VERSION_CONFLICT");
    }
    expect(await state.get(ref)).toBe(second);
    const present = { ...address, options: { life: instant(second) } };
    expect(await peer.teardown(present)).toMatchObject({ destroyReady: true, comparedLife: true });
    expect(await peer.destroy(present)).toMatchObject({ comparedLife: true });
    const third = await state.create(PathResource.create("a", {}));
    const last = { ...address, options: { life: instant(third) } };
    expect(await peer.teardownAndDestroy(last)).toMatchObject({ comparedLife: true });
  });
});

test("any other client is held to the version alone, whatever time its metadata has", async () => {
  const state = new MemoryState();
  await using peer = await Served.start(state);
  const [first, second] = await twoLives(state);
  await peer.update({ newResource: update("1", first), options: {} });
  expect((await state.get(ref)).metadata).toMatchObject({ version: "2", created: second.metadata.created });
  expect(await peer.teardown({ ...address, options: {} })).toMatchObject({ comparedLife: false });
  expect(await peer.destroy({ ...address, options: {} })).toMatchObject({ comparedLife: false });
});
