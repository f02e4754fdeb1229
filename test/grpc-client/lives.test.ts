import { describe, expect, test } from "vitest";
import { decodePointerRequest } from "../../src/grpc/messages/pointer-request.ts";
import { EMPTY_MESSAGE, encodeTeardownResponse } from "../../src/grpc/messages/teardown-response.ts";
import { decodeUpdateRequest } from "../../src/grpc/messages/write-request.ts";
import { Rpc } from "../../src/grpc/rpc.ts";
import { ResourceDecoder, ResourceEncoder } from "../../src/protobuf/index.ts";
import { lifeOf, patchMetadata, TypeRegistry, withSpec } from "../../src/resource/index.ts";
import { GrpcError, Status } from "../../src/rpc/index.ts";
import { Int } from "../../src/testing/index.ts";
import { int } from "./events.ts";
import { RemoteWorld } from "./remote-world.ts";
import { scriptedClient, type ScriptedClient } from "./scripted-wire.ts";

const encoder = new ResourceEncoder();
const decoder = new ResourceDecoder(new TypeRegistry([Int]));
const FIRST = "2026-01-01T00:00:00.000000001Z";
const SECOND = "2026-01-01T00:00:00.000000002Z";
const first = patchMetadata(int("one", 1), { created: FIRST });
const second = patchMetadata(first, { created: SECOND });
const COMPARED = encodeTeardownResponse({ destroyReady: false, comparedLife: true });

/** A client whose server has the second life, and answers each call about it with `response`. */
function clientOf(response: Uint8Array): ScriptedClient & { readonly named: (string | undefined)[] } {
  const client = scriptedClient();
  const named: (string | undefined)[] = [];
  client.wire.answers.set(Rpc.get, () => encoder.encodeField(second));
  for (const rpc of [Rpc.destroy, Rpc.teardown, Rpc.teardownAndDestroy]) {
    client.wire.answers.set(rpc, (message) => {
      named.push(decodePointerRequest(message).pointer.created);
      return response;
    });
  }
  return { ...client, named };
}

test("an update names the life that it was made from, and none when the caller made the resource", async () => {
  const { state, wire } = scriptedClient();
  const seen: (string | undefined)[] = [];
  wire.answers.set(Rpc.update, (message) => {
    const { resource } = decodeUpdateRequest(decoder, message);
    seen.push(lifeOf(resource.metadata));
    return encoder.encodeField(second);
  });
  await state.update(withSpec(second, { value: 2 }));
  await state.update(patchMetadata(int("one", 1), { created: "2026-01-01T00:00:00Z" }));
  expect(seen).toEqual([SECOND, undefined]);
  expect(wire.called).toEqual(["Update", "Update"]);
});

describe("a server that compares lives", () => {
  test("is known by its first answer; until then the resource is read first", async () => {
    const { state, wire, named, core } = clientOf(COMPARED);
    await state.destroy(second.metadata);
    await state.teardown(second.metadata);
    await state.teardownAndDestroy(first.metadata);
    expect(wire.called).toEqual(["Get", "Destroy", "Teardown", "TeardownAndDestroy"]);
    expect(named).toEqual([SECOND, SECOND, FIRST]);
    core.disconnected();
    await state.destroy(second.metadata);
    expect(wire.called.slice(4)).toEqual(["Get", "Destroy"]);
  });

  test("is not asked twice for an address alone", async () => {
    const { state, wire, named } = clientOf(COMPARED);
    await state.destroy(Int.ref("one"));
    await state.teardown(Int.ref("one"));
    expect(wire.called).toEqual(["Destroy", "Teardown"]);
    expect(named).toEqual([undefined, undefined]);
  });
});

describe("a server that compares none", () => {
  test("is not called about a life that is over", async () => {
    const { state, wire } = clientOf(EMPTY_MESSAGE);
    const conflict = { code: "version_conflict" };
    await expect(state.destroy(first.metadata)).rejects.toMatchObject(conflict);
    await expect(state.teardown(first.metadata)).rejects.toMatchObject(conflict);
    await expect(state.teardownAndDestroy(first.metadata)).rejects.toMatchObject(conflict);
    await state.destroy(second.metadata);
    expect(wire.called).toEqual(["Get", "Get", "Get", "Get", "Destroy"]);
  });

  test("and lets no one read is called all the same; any other failure of the read is the call's", async () => {
    const { state, wire } = clientOf(EMPTY_MESSAGE);
    wire.answers.set(Rpc.get, () => Promise.reject(new GrpcError(Status.permissionDenied, "no")));
    await state.destroy(first.metadata);
    wire.answers.set(Rpc.get, () => Promise.reject(new GrpcError(Status.notFound, "no")));
    await expect(state.destroy(first.metadata)).rejects.toMatchObject({ code: "not_found" });
    expect(wire.called).toEqual(["Get", "Destroy", "Get"]);
  });
});

test("what names a life by something that is no time is refused here", async () => {
  const { state, wire } = scriptedClient();
  const pointer = { ...Int.ref("one"), created: "the day before then.7" };
  await expect(state.destroy(pointer)).rejects.toMatchObject({ code: "invalid" });
  expect(wire.called).toEqual([]);
});

test("both ends have the same time of creation, to the nanosecond, from the create on", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect({ direct: true });
  const created = await client.create(Int.create("one", { value: 1 }));
  expect(created.metadata.created).toBe((await world.local.get(Int.ref("one"))).metadata.created);
  const changed = await client.modify(Int, "one", (spec) => void (spec.value = 2));
  expect(changed.metadata.created).toBe(created.metadata.created);
  await world.local.destroy(created.metadata);
  await client.create(Int.create("one", { value: 3 }));
  const late = client.update(withSpec(created, { value: 9 }));
  await expect(late).rejects.toMatchObject({ code: "version_conflict" });
  await expect(client.destroy(created.metadata)).rejects.toMatchObject({ code: "version_conflict" });
});
