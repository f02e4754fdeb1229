import { describe, expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { isOwnerConflict, Phase } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import { OwnedState } from "./owned-state.ts";

const ownerConflict = expect.toSatisfy(isOwnerConflict);
const notFound = expect.objectContaining({ code: "not_found" });

/** Two views of one State, for owner1 and owner2. */
function views(): { readonly state: MemoryState; readonly first: OwnedState; readonly second: OwnedState } {
  const state = new MemoryState({ types: [Int] });
  return { state, first: new OwnedState(state, "owner1"), second: new OwnedState(state, "owner2") };
}

describe("OwnedState", () => {
  test("stamps its owner on what it creates [state 83]", async () => {
    const { state, first } = views();
    await first.create(Int.create("r1", { value: 1 }));
    expect((await state.get(Int, "r1")).metadata.owner).toBe("owner1");
  });

  test("updates its own, and nobody else's [state 84]", async () => {
    const { first, second } = views();
    const r1 = await first.create(Int.create("r1", { value: 1 }));
    await expect(second.update(r1)).rejects.toEqual(ownerConflict);
    expect((await first.update(r1)).metadata.version).toBe("2");
  });

  test("reads everything [state 85]", async () => {
    const { first, second } = views();
    const r1 = await first.create(Int.create("r1", { value: 1 }));
    expect(await second.get(Int, "r1")).toBe(r1);
    expect(await second.get(Int.ref("r1"))).toBe(r1);
    expect(await second.getOrNull(Int, "r1")).toBe(r1);
    expect(await second.getOrNull(Int.ref("none"))).toBeUndefined();
    expect([...(await second.list(Int))]).toEqual([r1]);
  });

  test("passes the options of a read on, of a type and of a reference", async () => {
    const { first } = views();
    const options = { signal: AbortSignal.abort(new Error("not needed")) };
    await expect(first.get(Int, "r1", options)).rejects.toThrow("not needed");
    await expect(first.get(Int.ref("r1"), options)).rejects.toThrow("not needed");
    await expect(first.getOrNull(Int, "r1", options)).rejects.toThrow("not needed");
    await expect(first.getOrNull(Int.ref("r1"), options)).rejects.toThrow("not needed");
    await expect(first.list(Int, options)).rejects.toThrow("not needed");
  });

  test("modify creates in the name of the owner, with content [state 86]", async () => {
    const { state, second } = views();
    const r2 = await second.modify(Int, "r2", (spec) => void (spec.value = 2));
    expect(r2).toMatchObject({ metadata: { owner: "owner2", version: "1" }, spec: { value: 2 } });
    expect(await state.get(Int, "r2")).toBe(r2);
    const changed = await second.modify(Int.create("r2", { value: 0 }), (spec) => void (spec.value += 1));
    expect(changed.spec.value).toBe(3);
  });

  test("tears its own down, or another's when told whose [state 87]", async () => {
    const { first, second } = views();
    await first.create(Int.create("r1", { value: 1 }));
    await second.create(Int.create("r2", { value: 2 }));
    expect(await first.teardown(Int.ref("r1"))).toBe(true);
    await expect(first.teardown(Int.ref("r2"))).rejects.toEqual(ownerConflict);
    expect(await first.teardown(Int.ref("r2"), { owner: "owner2" })).toBe(true);
  });

  test("destroys likewise [state 88]", async () => {
    const { state, first, second } = views();
    await first.create(Int.create("r1", { value: 1 }));
    await second.create(Int.create("r2", { value: 2 }));
    await first.destroy(Int.ref("r1"));
    await expect(first.destroy(Int.ref("r2"))).rejects.toEqual(ownerConflict);
    await first.destroy(Int.ref("r2"), { owner: "owner2" });
    await expect(state.get(Int, "r1")).rejects.toEqual(notFound);
    await expect(state.get(Int, "r2")).rejects.toEqual(notFound);
  });

  test("modify can create without an owner [state 89]", async () => {
    const { state, first } = views();
    await first.modify(Int, "r3", () => ({ value: 3 }), { noOwner: true });
    expect((await state.get(Int, "r3")).metadata.owner).toBe("");
  });

  test("create can do without an owner [state 90]", async () => {
    const { state, first } = views();
    await first.create(Int.create("r4", { value: 4 }), { noOwner: true });
    expect((await state.get(Int, "r4")).metadata.owner).toBe("");
  });

  test("two views share one State, and each other's resources only for reading [engine T-37]", async () => {
    const { state, first, second } = views();
    const r1 = await first.create(Int.create("r1", { value: 1 }));
    expect(r1.metadata.owner).toBe("owner1");
    await expect(second.update(r1)).rejects.toEqual(ownerConflict);
    const updated = await first.update(r1);
    expect(await second.get(Int, "r1")).toBe(updated);
    const r2 = await second.modify(Int, "r2", () => ({ value: 2 }));
    expect(r2).toMatchObject({ metadata: { owner: "owner2" }, spec: { value: 2 } });

    expect(await first.teardown(Int.ref("r1"))).toBe(true);
    await expect(first.teardown(Int.ref("r2"))).rejects.toEqual(ownerConflict);
    expect(await first.teardown(Int.ref("r2"), { owner: "owner2" })).toBe(true);
    await first.destroy(Int.ref("r1"));
    await expect(first.destroy(Int.ref("r2"))).rejects.toEqual(ownerConflict);
    await first.destroy(Int.ref("r2"), { owner: "owner2" });
    expect(await state.list(Int)).toHaveLength(0);

    expect((await first.modify(Int, "r3", () => ({ value: 3 }), { noOwner: true })).metadata.owner).toBe("");
    expect((await first.create(Int.create("r4", { value: 4 }), { noOwner: true })).metadata.owner).toBe("");
  });

  test("acts for nobody when the owner is explicitly empty [state 188]", async () => {
    const { state, first } = views();
    await state.create(Int.create("free", { value: 1 }));
    await first.create(Int.create("own", { value: 1 }));
    await expect(first.teardown(Int.ref("free"))).rejects.toEqual(ownerConflict);
    expect(await first.teardown(Int.ref("free"), { owner: "" })).toBe(true);
    await expect(first.teardown(Int.ref("own"), { owner: "" })).rejects.toEqual(ownerConflict);
    await expect(first.destroy(Int.ref("own"), { owner: "" })).rejects.toEqual(ownerConflict);
    await first.destroy(Int.ref("free"), { owner: "" });
    expect(await first.teardown(Int.ref("own"), { owner: undefined })).toBe(true);
  });

  test("modifies a running resource, unless told otherwise", async () => {
    const { first } = views();
    await first.create(Int.create("r1", { value: 1 }));
    await first.teardown(Int.ref("r1"));
    await expect(first.modify(Int, "r1", () => ({ value: 2 }))).rejects.toThrow(
      expect.objectContaining({ code: "phase_conflict" }),
    );
    const changed = await first.modify(Int, "r1", () => ({ value: 2 }), { expectedPhase: "any" });
    expect(changed).toMatchObject({ spec: { value: 2 }, metadata: { phase: Phase.tearingDown } });
    await expect(
      first.modify(Int, "r1", () => ({ value: 3 }), { expectedPhase: "any", noOwner: true }),
    ).rejects.toEqual(ownerConflict);
  });

  test("finalizers are free for all", async () => {
    const { first, second } = views();
    await first.create(Int.create("r1", { value: 1 }));
    await second.addFinalizer(Int.ref("r1"), "f", "g");
    expect((await first.get(Int, "r1")).metadata).toMatchObject({ finalizers: ["f", "g"], owner: "owner1" });
    await second.removeFinalizer(Int.ref("r1"), "f");
    expect((await first.get(Int, "r1")).metadata.finalizers).toEqual(["g"]);
  });

  test("gives signals of anybody's teardown, and passes signals on", async () => {
    const { first, second } = views();
    await first.create(Int.create("r1", { value: 1 }));
    await using going = await second.signalWithTeardown(Int.ref("r1"));
    const aborted = new Promise((resolve) => going.signal.addEventListener("abort", resolve));
    await first.teardown(Int.ref("r1"));
    await aborted;
    const reason = new Error("enough");
    const options = { signal: AbortSignal.abort(reason) };
    const one = Int.create("x", { value: 1 });
    await expect(first.get(Int, "r1", options)).rejects.toBe(reason);
    await expect(first.list(Int, options)).rejects.toBe(reason);
    await expect(first.create(one, options)).rejects.toBe(reason);
    await expect(first.update(one, options)).rejects.toBe(reason);
    await expect(first.modify(one, () => undefined, options)).rejects.toBe(reason);
    await expect(first.teardown(Int.ref("r1"), options)).rejects.toBe(reason);
    await expect(first.destroy(Int.ref("r1"), options)).rejects.toBe(reason);
    await expect(first.signalWithTeardown(Int.ref("r1"), options)).rejects.toBe(reason);
  });
});
