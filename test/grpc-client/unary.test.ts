import { describe, expect, test } from "vitest";
import { encodePointerRequest } from "../../src/grpc/messages/pointer-request.ts";
import { ResourceDecoder } from "../../src/protobuf/resource-decoder.ts";
import { ResourceEncoder } from "../../src/protobuf/resource-encoder.ts";
import { EMPTY_MESSAGE, encodeTeardownResponse } from "../../src/grpc/messages/teardown-response.ts";
import { decodeCreateRequest, decodeUpdateRequest } from "../../src/grpc/messages/write-request.ts";
import { Rpc } from "../../src/grpc/rpc.ts";
import { GrpcError, isGrpcError, Status } from "../../src/rpc/index.ts";
import {
  createResource,
  hasCode,
  isSealed,
  OpaqueSpec,
  patchMetadata,
  sourceOf,
  TypeRegistry,
  withSpec,
} from "../../src/resource/index.ts";
import { Int, Str } from "../../src/testing/index.ts";
import { int } from "./events.ts";
import { scriptedClient } from "./scripted-wire.ts";

const encoder = new ResourceEncoder();
const decoder = new ResourceDecoder(new TypeRegistry([Int]));
const refused = (code: keyof typeof Status) => () => Promise.reject(new GrpcError(Status[code], "no"));
const pending = () => new Promise<Uint8Array>(() => {});

describe("writes", () => {
  test("resolve to the resource as stored: metadata as the server set it, the very spec that was sent", async () => {
    const { state, wire } = scriptedClient();
    const sent = Int.create("one", { value: 1 });
    const created = "2026-01-01T00:00:00Z";
    wire.answers.set(Rpc.create, (message) => {
      const { resource, owner } = decodeCreateRequest(decoder, message);
      return encoder.encodeField(patchMetadata(resource, { version: "1", owner, created, updated: created }));
    });
    const stored = await state.create(sent, { owner: "me" });
    expect(stored.metadata).toMatchObject({ version: "1", owner: "me", created, updated: created });
    expect(stored.spec).toBe(sent.spec);
    expect([isSealed(stored), Object.isFrozen(stored), sourceOf(stored)]).toEqual([true, true, Int.source]);
    expect(sent.metadata.version).toBe("undefined");
  });

  test("of new resources send the time, which Go's server takes from its client; of copies they send the copy's", async () => {
    const { state, wire, clock } = scriptedClient();
    const times: string[] = [];
    wire.answers.set(Rpc.create, (message) => {
      const { resource } = decodeCreateRequest(decoder, message);
      times.push(resource.metadata.created, resource.metadata.updated);
      return encoder.encodeField(resource);
    });
    await state.create(Int.create("one", { value: 1 }));
    await state.create(patchMetadata(int("two", 1), { updated: "2020-02-02T00:00:00Z" }));
    const now = "2000-01-01T00:00:00Z";
    expect(new Date(now).getTime()).toBe(clock.now());
    expect(times).toEqual([now, now, "1970-01-01T00:00:00Z", "2020-02-02T00:00:00Z"]);
  });

  test("resolve to another spec when the server has changed it", async () => {
    for (const types of [[Int], []]) {
      const { state, wire } = scriptedClient({ types });
      for (const value of [99, 2]) {
        wire.answers.set(Rpc.update, () => encoder.encodeField(int("one", value, 2)));
        const stored = await state.update(int("one", 1));
        expect(stored.spec).toEqual({ value });
        expect(sourceOf(stored)).toBe(Int.source);
      }
      for (const value of ["x", "xyz", `${"x".repeat(99)}y`]) {
        const sent = Str.create("one", { value: value.startsWith("xxx") ? "x".repeat(100) : "xy" });
        wire.answers.set(Rpc.create, () => encoder.encodeField(Str.create("one", { value })));
        expect((await state.create(sent)).spec).toEqual({ value });
      }
    }
  });

  test("send the phase that is expected: running unless said otherwise, none for any", async () => {
    const { state, wire } = scriptedClient();
    const phases: string[] = [];
    wire.answers.set(Rpc.update, (message) => {
      const { expectedPhase, resource } = decodeUpdateRequest(decoder, message);
      phases.push(expectedPhase);
      return encoder.encodeField(resource);
    });
    await state.update(int("one", 1));
    await state.update(int("one", 1), { expectedPhase: "tearingDown" });
    await state.update(int("one", 1), { expectedPhase: "any" });
    expect(phases).toEqual(["running", "tearingDown", "any"]);
  });

  test("of a known type are checked before they are sent", async () => {
    const { state, wire } = scriptedClient();
    const bad = createResource({ namespace: "default", type: Int.type, id: "one" }, { value: "text" });
    await expect(state.create(bad)).rejects.toMatchObject({ code: "invalid" });
    await expect(state.update(bad)).rejects.toMatchObject({ code: "invalid" });
    expect(wire.called).toEqual([]);
  });

  test("of resources that came undecoded send their spec on unchanged", async () => {
    const { state, wire } = scriptedClient({ skipDecoding: true });
    const spec = new OpaqueSpec({ bytes: Uint8Array.of(1, 2, 3), yaml: "a: 1\n" });
    const opaque = createResource({ namespace: "default", type: "test/int", id: "one", version: "4" }, spec);
    wire.answers.set(Rpc.update, (message) => {
      const decoded = decodeUpdateRequest(new ResourceDecoder(new TypeRegistry()), message).resource;
      return encoder.encodeField(patchMetadata(decoded, { version: "5" }));
    });
    const stored = await state.update(patchMetadata(opaque, { labels: { seen: "yes" } }));
    expect(stored.metadata).toMatchObject({ version: "5", labels: { seen: "yes" } });
    expect(spec.equals(stored.spec)).toBe(true);
  });

  test("say so when they happened but their answer makes no sense", async () => {
    const { state, wire } = scriptedClient();
    wire.answers.set(Rpc.create, () => EMPTY_MESSAGE);
    wire.answers.set(Rpc.update, () => Uint8Array.of(0x0a, 0x7f));
    const failures = [state.create(Int.create("one", { value: 1 })), state.update(int("one", 1))];
    for (const failure of failures) {
      const error = await failure.catch((thrown: unknown) => thrown);
      expect(isGrpcError(error, Status.internal)).toBe(true);
      expect(String(error)).toMatch(/test\/int\(default\/one\) was written, but the answer cannot be read: /);
    }
  });

  test("say so when their answer is about another resource", async () => {
    const { state, wire } = scriptedClient();
    const others = [
      int("two", 1),
      createResource({ ...Int.ref("one"), namespace: "other" }, new OpaqueSpec({ yaml: "a: 1" })),
      createResource({ ...Int.ref("one"), type: "test/str" }, new OpaqueSpec({ yaml: "a: 1" })),
    ];
    for (const other of others) {
      for (const rpc of [Rpc.create, Rpc.update, Rpc.get]) wire.answers.set(rpc, () => encoder.encodeField(other));
      for (const [call, told] of [
        [state.create(Int.create("one", { value: 1 })), "was written, but the answer cannot be read"],
        [state.update(int("one", 1)), "was written, but the answer cannot be read"],
        [state.get(Int, "one"), "cannot be read"],
      ] as const) {
        const error = await call.catch((thrown: unknown) => thrown);
        expect(isGrpcError(error, Status.internal)).toBe(true);
        expect(String(error)).toContain(`test/int(default/one) ${told}: the server gave `);
        expect(String(error)).toContain(" instead of test/int(default/one)");
      }
    }
  });

  test("leave out the YAML that generic tools read only when told to", async () => {
    for (const yaml of [true, false, (type: string) => type === Int.type]) {
      const { state, wire } = scriptedClient({ yaml });
      const texts: (string | undefined)[] = [];
      wire.answers.set(Rpc.create, (message) => {
        const { resource } = decodeCreateRequest(new ResourceDecoder(new TypeRegistry()), message);
        texts.push((resource.spec as OpaqueSpec).yaml);
        return encoder.encodeField(resource);
      });
      await state.create(Int.create("one", { value: 1 }));
      await state.create(Str.create("two", { value: "x" }));
      expect(texts.map((text) => text !== undefined)).toEqual([yaml !== false, yaml === true]);
    }
  });
});

describe("reads", () => {
  test("give frozen, typed resources, and undefined or an error for what is not there", async () => {
    const { state, wire } = scriptedClient();
    wire.answers.set(Rpc.get, () => encoder.encodeField(int("one", 3)));
    const read = await state.get(Int, "one");
    expect(read.spec).toEqual({ value: 3 });
    expect([isSealed(read), Object.isFrozen(read.spec), Object.isFrozen(read.metadata)]).toEqual([true, true, true]);
    wire.answers.set(Rpc.get, refused("notFound"));
    expect(await state.getOrNull(Int, "one")).toBeUndefined();
    await expect(state.get(Int, "one")).rejects.toMatchObject({ code: "not_found", pointer: Int.ref("one") });
    wire.answers.set(Rpc.get, refused("permissionDenied"));
    await expect(state.getOrNull(Int, "one")).rejects.toSatisfy((error) => isGrpcError(error, Status.permissionDenied));
  });

  test("that are no message are INTERNAL", async () => {
    const { state, wire } = scriptedClient();
    wire.answers.set(Rpc.get, () => Uint8Array.of(0xff));
    await expect(state.get(Int, "one")).rejects.toSatisfy((error) => isGrpcError(error, Status.internal));
    wire.onStream = (stream) => stream.push(Uint8Array.of(0xff));
    await expect(state.list(Int)).rejects.toSatisfy((error) => isGrpcError(error, Status.internal));
    expect(wire.last.cancelled).toBe(true);
  });

  test("of a kind hold nothing else", async () => {
    const { state, wire } = scriptedClient();
    const other = createResource({ ...Int.ref("one"), namespace: "other" }, new OpaqueSpec({ yaml: "a: 1" }));
    wire.onStream = (stream) =>
      stream
        .push(encoder.encodeField(int("a", 1)))
        .push(encoder.encodeField(other))
        .finish();
    const error = await state.list(Int).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('the server gave test/int(other/one), which is not one of test/int in "default"');
  });

  test("of a kind are sorted by the bytes of their ids, whatever the server does", async () => {
    const { state, wire } = scriptedClient();
    const ids = ["b", "a", "\u{1F600}", "\uFF5E", "c"];
    wire.onStream = (stream) => {
      for (const id of ids) stream.push(encoder.encodeField(int(id, 1)));
      stream.finish();
    };
    const list = await state.list(Int);
    expect(list.map(({ metadata }) => metadata.id)).toEqual(["a", "b", "c", "\uFF5E", "\u{1F600}"]);
    expect(Object.isFrozen(list)).toBe(true);
    expect(list.revision).toBeUndefined();
  });

  test("of a kind take as long as something comes, and no longer", async () => {
    const { state, wire, clock } = scriptedClient({ timeoutMs: 1_000 });
    wire.onStream = () => {};
    const listing = state.list(Int);
    for (let i = 0; i < 5; i++) {
      await clock.advance(900);
      wire.last.push(encoder.encodeField(int(`r${i}`, i)));
    }
    await clock.advance(900);
    wire.last.finish();
    expect(await listing).toHaveLength(5);
    const stuck = state.list(Int).catch((error: unknown) => error);
    wire.last.push(encoder.encodeField(int("r", 1)));
    await clock.advance(2_000);
    expect(isGrpcError(await stuck, Status.deadlineExceeded)).toBe(true);
    expect(wire.last.cancelled).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe("teardown", () => {
  test("[transport T5] [state 164] is one call; its answer says whether the resource may go", async () => {
    const { state, wire } = scriptedClient();
    wire.answers.set(Rpc.teardown, (message) => {
      expect(message).toEqual(encodePointerRequest(Int.ref("one"), "me"));
      return encodeTeardownResponse({ destroyReady: true, comparedLife: false });
    });
    expect(await state.teardown(Int.ref("one"), { owner: "me" })).toBe(true);
    expect(wire.called).toEqual(["Teardown"]);
    wire.answers.set(Rpc.teardown, () => encodeTeardownResponse({ destroyReady: false, comparedLife: false }));
    expect(await state.teardown(Int.ref("one"))).toBe(false);
    wire.answers.set(Rpc.teardown, refused("notFound"));
    await expect(state.teardown(Int.ref("one"))).rejects.toMatchObject({ code: "not_found" });
    wire.answers.set(Rpc.teardown, refused("permissionDenied"));
    await expect(state.teardown(Int.ref("one"))).rejects.toMatchObject({ code: "owner_conflict" });
    expect(wire.called).toHaveLength(4);
  });

  test("[transport T6] [state 165] of an older server is composed, and that it is one is remembered until the next connection", async () => {
    const { state, wire, core } = scriptedClient();
    let phase: "running" | "tearingDown" = "running";
    wire.answers.set(Rpc.get, () => encoder.encodeField(patchMetadata(int("one", 1), { phase })));
    wire.answers.set(Rpc.update, (message) => {
      const { resource } = decodeUpdateRequest(decoder, message);
      phase = resource.metadata.phase;
      return encoder.encodeField(resource);
    });
    expect(await state.teardown(Int.ref("one"))).toBe(true);
    expect(wire.called).toEqual(["Teardown", "Get", "Update"]);
    expect(phase).toBe("tearingDown");
    expect(await state.teardown(Int.ref("one"))).toBe(true);
    expect(wire.called.slice(3)).toEqual(["Get"]);
    wire.answers.set(Rpc.teardown, () => encodeTeardownResponse({ destroyReady: false, comparedLife: false }));
    core.disconnected();
    expect(await state.teardown(Int.ref("one"))).toBe(false);
    expect(wire.called.slice(4)).toEqual(["Teardown"]);
  });

  test("[transport T8] [state 167] with a destroy is composed likewise, whether or not the server has the simple one", async () => {
    const { state, wire, core } = scriptedClient();
    let left = 2;
    const stored = () => patchMetadata(int("one", 1), { phase: "tearingDown" });
    wire.answers.set(Rpc.get, () => encoder.encodeField(stored()));
    wire.answers.set(Rpc.destroy, () => {
      left--;
      return EMPTY_MESSAGE;
    });
    wire.answers.set(Rpc.teardown, () => encodeTeardownResponse({ destroyReady: true, comparedLife: false }));
    await state.teardownAndDestroy(Int.ref("one"));
    expect(wire.called).toEqual(["TeardownAndDestroy", "Get", "Destroy"]);
    await state.teardownAndDestroy(Int.ref("one"));
    expect(wire.called.slice(3)).toEqual(["Get", "Destroy"]);
    expect(left).toBe(0);
    wire.answers.set(Rpc.teardownAndDestroy, () => EMPTY_MESSAGE);
    core.disconnected();
    await state.teardownAndDestroy(Int.ref("one"));
    expect(wire.called.slice(5)).toEqual(["TeardownAndDestroy"]);
  });
});

test("every call has a limit but the one that waits for finalizers", async () => {
  const { state, wire } = scriptedClient({ timeoutMs: 5_000 });
  wire.answers.set(Rpc.destroy, () => EMPTY_MESSAGE).set(Rpc.teardownAndDestroy, () => EMPTY_MESSAGE);
  await state.destroy(Int.ref("one"));
  await state.teardownAndDestroy(Int.ref("one"));
  expect(wire.deadlines).toEqual([5_000, undefined]);
  expect(() => scriptedClient({ timeoutMs: 0 })).toThrow("timeoutMs must be more than 0, got 0");
});

describe("a State that is closed", () => {
  test("refuses everything as unavailable, and closes its connection", async () => {
    const { state, wire, core } = scriptedClient();
    wire.answers.set(Rpc.get, pending);
    await using watch = await state.watchKind(Int);
    await state[Symbol.asyncDispose]();
    expect([wire.closed, core.openWatches]).toEqual([true, 0]);
    expect((await watch.next()).done).toBe(true);
    await expect(state.watchKind(Int)).rejects.toMatchObject({ code: "unavailable" });
    wire.answers.set(Rpc.get, refused("cancelled"));
    await expect(state.get(Int, "one")).rejects.toSatisfy((error) => hasCode(error, "unavailable"));
    await expect(state.update(withSpec(int("one", 1), { value: 2 }))).rejects.toBeInstanceOf(Error);
  });
});
