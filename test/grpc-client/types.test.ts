import { describe, expect, test } from "vitest";
import { silentLogger } from "../../src/log/index.ts";
import { connect, server } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { createResource, OpaqueSpec, sourceOf, type Resource } from "../../src/resource/index.ts";
import { Runtime } from "../../src/runtime/index.ts";
import type { State } from "../../src/state/index.ts";
import { assertResource, Int, intToStrController, Str } from "../../src/testing/index.ts";
import { openDirectory } from "../grpc-transport/fixture.ts";

const Numbers = Int.in("numbers");

/** A server that knows no types, and connections to it with those that are given. */
async function openIgnorantServer() {
  const directory = await openDirectory();
  const local = new MemoryState();
  const serving = server(local);
  const address = `unix:${directory.path("s")}`;
  await serving.listen(address);
  const clients: State[] = [];
  return {
    connect: (...types: readonly (typeof Int | typeof Str)[]): State => {
      const client = connect(address, { types });
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const client of clients) await client[Symbol.asyncDispose]();
      await serving.close();
      await local[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** A number that is none, as a peer might write it that does not check. */
const broken = (namespace: string, id: string): Resource =>
  createResource(
    { namespace, type: Int.type, id },
    new OpaqueSpec({ bytes: Uint8Array.of(1, 2, 3), yaml: "what: ever\n" }),
  );

describe("types over the wire", () => {
  test("need not be told to the client: what is asked for as one of a type is one", async () => {
    await using world = await openIgnorantServer();
    const client = world.connect();
    const stored = await client.create(Numbers.create("one", { value: 1 }));
    expect([stored.spec, sourceOf(stored)]).toEqual([{ value: 1 }, Int.source]);
    const changed = await client.updateWithConflicts(Numbers, "one", (spec) => ({ value: spec.value + 1 }));
    expect([changed.spec, sourceOf(changed)]).toEqual([{ value: 2 }, Int.source]);
    expect((await client.get(Numbers, "one")).spec.value).toBe(2);
    const [listed] = await client.list(Numbers);
    expect(listed?.spec.value).toBe(2);
    await using watch = await client.watchKind(Numbers, { bootstrap: true });
    expect((await watch.next()).value?.resource?.spec).toEqual({ value: 2 });
    const { spec } = await client.get({ namespace: "numbers", type: Int.type, id: "one" });
    expect(spec).toBeInstanceOf(OpaqueSpec);
  });

  test("one resource that is none of its type hides no others", async () => {
    await using world = await openIgnorantServer();
    await world.connect().create(broken("numbers", "bad"));
    const client = world.connect(Int);
    await client.create(Numbers.create("good", { value: 1 }));
    const kind = { namespace: "numbers", type: Int.type };
    const [bad, good] = await client.list(kind);
    expect(bad?.spec).toBeInstanceOf(OpaqueSpec);
    expect(good?.spec).toEqual({ value: 1 });
    await expect(client.get(Numbers, "bad")).rejects.toMatchObject({ code: "invalid", pointer: Numbers.ref("bad") });
    await using watch = await client.watchKind(Numbers, { bootstrap: true });
    const { value: first } = await watch.next();
    expect(() => first?.resource).toThrow(/numbers\/bad.* is invalid: its spec cannot be decoded/);
    expect((await watch.next()).value?.resource?.spec).toEqual({ value: 1 });
    await client.destroy(Numbers.ref("bad"));
    expect(await client.list(Numbers)).toHaveLength(1);
  });

  test("an engine survives it: the controller fails until it is gone, and works again then", async () => {
    await using world = await openIgnorantServer();
    const client = world.connect(Int, Str);
    const stopper = new AbortController();
    const runtime = new Runtime(client, {
      logger: silentLogger,
      controllers: [intToStrController("numbers", "texts")],
    });
    const running = runtime.run({ signal: stopper.signal });
    await client.create(Numbers.create("one", { value: 1 }));
    await assertResource(client, Str.in("texts"), "one");
    await world.connect().create(broken("numbers", "bad"));
    await client.destroy(Numbers.ref("bad"));
    await client.create(Numbers.create("two", { value: 2 }));
    await assertResource(client, Str.in("texts"), "two");
    stopper.abort();
    await running;
  });
});
