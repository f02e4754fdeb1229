import { describe, expect, test } from "vitest";
import { MemoryNamespace } from "../../memory/index.ts";
import { Phase, sealResource, withMetadata, type Resource } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import { AccessFilter, type Access } from "./access-filter.ts";
import { isReadVerb } from "./access-verb.ts";
import type { CoreState } from "../core-state.ts";
import type { State } from "../state.ts";
import { wrapState } from "../wrap-state.ts";

const ref = Int.ref("one");

/** A State behind a rule that writes down what it is asked, and allows everything. */
function recorded(): { readonly state: State; readonly asked: Access[]; readonly verbs: () => string } {
  const asked: Access[] = [];
  const core = new MemoryNamespace("default", { types: [Int] });
  const state = wrapState(new AccessFilter(core, (access) => void asked.push(access)));
  return {
    state,
    asked,
    verbs: () =>
      asked
        .splice(0)
        .map(({ verb }) => verb)
        .join(" "),
  };
}

describe("AccessFilter", () => {
  test("lets through what its rule allows and nothing else [state 82] [transport S22]", async () => {
    const denied = new Error("denied");
    const core = new MemoryNamespace("default", { types: [Int] });
    const state = wrapState(
      new AccessFilter(core, ({ namespace, type, id, verb }) => {
        if (namespace !== "default" || type !== "test/int" || id !== "one" || verb === "watch") throw denied;
      }),
    );
    await state.create(Int.create("one", { value: 1 }));
    await expect(state.create(Int.create("other", { value: 1 }))).rejects.toBe(denied);
    await expect(state.list(Int)).rejects.toBe(denied);
    await expect(state.watch(ref)).rejects.toBe(denied);
    await expect(state.watchKind(Int)).rejects.toBe(denied);
    await expect(state.watchKindBatches(Int)).rejects.toBe(denied);
    expect((await core.list(Int)).map(({ metadata }) => metadata.id)).toEqual(["one"]);
    expect(await state.teardown(ref)).toBe(true);
    await state.destroy(ref);
    expect(await core.list(Int)).toHaveLength(0);
  });

  test("shows its rule what will be stored, with the time at which it was asked", async () => {
    const asked: Access[] = [];
    const core = new MemoryNamespace("default", { types: [Int] });
    const now = Date.UTC(2026, 0, 1, 12);
    const state = wrapState(new AccessFilter(core, (access) => void asked.push(access), { now: () => now }));
    const time = new Date(now).toISOString();
    const created = await state.create(Int.create("one", { value: 1 }));
    expect(asked.at(-1)?.resource?.metadata).toMatchObject({ version: "1", created: time, updated: time });
    await state.update(created);
    const { created: since } = created.metadata;
    expect(asked.at(-1)?.resource?.metadata).toMatchObject({ version: "2", created: since, updated: time });
  });

  test("asks once for each operation, with the address and the verb", async () => {
    const { state, asked } = recorded();
    const created = await state.create(Int.create("one", { value: 1 }));
    await state.get(ref);
    await state.list(Int);
    await state.update(created);
    await using watch = await state.watch(ref);
    await using kind = await state.watchKind(Int);
    await using batches = await state.watchKindBatches(Int);
    await state.destroy(ref);
    expect([watch, kind, batches]).toHaveLength(3);
    const of = (verb: string, id = "one") => ({ namespace: "default", type: "test/int", id, verb });
    expect(asked.map(({ namespace, type, id, verb }) => ({ namespace, type, id, verb }))).toEqual([
      of("create"),
      of("get"),
      of("list", ""),
      of("update"),
      of("watch"),
      of("watch", ""),
      of("watch", ""),
      of("destroy"),
    ]);
  });

  test("tells of the owner that a write claims, and of the resource as it will be stored", async () => {
    const { state, asked } = recorded();
    const options = { owner: "ann" };
    const stored = await state.create(Int.create("one", { value: 1 }), options);
    const [create] = asked.splice(0);
    expect(create?.resource?.metadata).toMatchObject({ owner: "ann", version: "1" });
    const theirs = sealResource(
      withMetadata(stored.metadata, { owner: "bob", created: "1970-01-01T00:00:00Z" }),
      { value: 2 },
      undefined,
    );
    await state.update(theirs, options);
    const [update] = asked.splice(0);
    expect([update?.owner, update?.stored]).toEqual(["ann", stored]);
    expect(update?.resource).toMatchObject({
      metadata: { owner: "bob", version: "2", created: stored.metadata.created },
      spec: { value: 2 },
    });
    await expect(state.destroy(ref, options)).rejects.toThrow("is owned by");
    expect(asked.map(({ verb, owner }) => [verb, owner])).toEqual([["destroy", "ann"]]);
  });

  test("writes in the name of the owner that the rule was told, whatever becomes of the options meanwhile", async () => {
    const core = new MemoryNamespace("default", { types: [Int] });
    const options = { owner: "ann" };
    const state = wrapState(new AccessFilter(core, async () => void (options.owner = "eve")));
    expect((await state.create(Int.create("one", { value: 1 }), options)).metadata.owner).toBe("ann");
  });

  test("asks for derived operations step by step", async () => {
    const { state, verbs } = recorded();
    await state.modify(Int, "one", () => ({ value: 1 }));
    expect(verbs()).toBe("get create");
    await state.modify(Int, "one", () => ({ value: 2 }));
    expect(verbs()).toBe("get get update");
    await state.addFinalizer(ref, "f");
    expect(verbs()).toBe("get update");
    await state.watchFor(ref);
    expect(verbs()).toBe("watch");
    await (await state.signalWithTeardown(ref))[Symbol.asyncDispose]();
    expect(verbs()).toBe("watch");
    const destruction = state.teardownAndDestroy(ref);
    await state.watchFor(ref, { phases: [Phase.tearingDown] });
    expect(verbs().split(" ").toSorted().join(" ")).toBe("get update watch watch");
    await state.removeFinalizer(ref, "f");
    await destruction;
    expect(verbs()).toMatch(/destroy$/);
  });

  test("hides the shortcuts of the store behind it", async () => {
    const core: CoreState = new MemoryNamespace("default");
    const shortcut = Object.assign(core, {
      teardown: () => Promise.reject(new Error("around the rule")),
      teardownAndDestroy: () => Promise.reject(new Error("around the rule")),
    });
    const state = wrapState(new AccessFilter(shortcut, () => undefined));
    await state.create(Int.create("one", { value: 1 }));
    await state.teardownAndDestroy(ref);
    await expect(state.get(ref)).rejects.toThrow(expect.objectContaining({ code: "not_found" }));
  });

  test("judges the very address and resource that it passes on", async () => {
    const core = new MemoryNamespace("default");
    await core.create(Int.create("secret", { value: 1 }));
    const filter = new AccessFilter(core, async ({ id }) => {
      await Promise.resolve();
      if (id === "secret") throw new Error("denied");
    });
    const pointer = { ...Int.ref("open") };
    const reading = filter.get(pointer);
    pointer.id = "secret";
    await expect(reading).rejects.toThrow(/default\/open/);

    const resource = { metadata: { ...Int.create("open", { value: 1 }).metadata }, spec: { value: 1 } };
    const creating = filter.create(resource as Resource);
    resource.metadata.id = "other";
    resource.spec.value = 2;
    expect(await creating).toMatchObject({ metadata: { id: "open" }, spec: { value: 1 } });
  });

  test("hands the signal to its rule, and asks nothing once it has aborted", async () => {
    const core = new MemoryNamespace("default");
    const seen: (AbortSignal | undefined)[] = [];
    const filter = new AccessFilter(core, (_access, { signal }) => void seen.push(signal));
    const { signal } = new AbortController();
    await filter.list(Int, { signal });
    const reason = new Error("enough");
    await expect(filter.list(Int, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(seen).toEqual([signal]);
  });

  test("is disposed with its store", async () => {
    const state = wrapState(new AccessFilter(new MemoryNamespace("default"), () => undefined));
    await state[Symbol.asyncDispose]();
    await expect(state.list(Int)).rejects.toThrow(expect.objectContaining({ code: "unavailable" }));
  });
});

test("reading verbs are those that change nothing", () => {
  const verbs = ["get", "list", "watch", "create", "update", "destroy"] as const;
  expect(verbs.filter(isReadVerb)).toEqual(["get", "list", "watch"]);
});
