import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectTo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport, type GrpcTransportOptions } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { server, type StateServer } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { eventually, Int } from "../../src/testing/index.ts";
import { State as StateService, type WatchResponse } from "../gen/cosi/resource/state_pb.ts";

const kind = { namespace: "default", type: Int.type };
const state = new MemoryState({ types: [Int] });
let folder: string;
let serving: StateServer;
let tcp: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-"));
  serving = server(state, { types: [Int] });
  await serving.listen(`unix:${join(folder, "s")}`);
  tcp = (await serving.listen("tcp:127.0.0.1:0")).address.replace("tcp:", "http:");
  await state.create(Int.create("a", { value: 1 }));
});

afterAll(async () => {
  await serving.close({ graceMs: 0 });
  await rm(folder, { recursive: true, force: true });
});

const guest = (id: string, yamlSpec = "a: 1\n") => ({
  resource: {
    metadata: { namespace: "n", type: "Guests.example", id, version: "undefined", phase: "running" },
    spec: { yamlSpec },
  },
});

describe.each<[string, Partial<GrpcTransportOptions>, () => string]>([
  ["over TCP", {}, () => tcp],
  [
    "over a unix socket, compressed",
    {
      sendCompression: compressionGzip,
      compressMinBytes: 0,
      acceptCompression: [compressionGzip],
      nodeOptions: { createConnection: () => connectTo(join(folder, "s")) },
    },
    () => "http://localhost",
  ],
])("connect-node as the client of a served State, %s", (how, options, baseUrl) => {
  const client = (): Client<typeof StateService> =>
    createClient(StateService, createGrpcTransport({ baseUrl: baseUrl(), ...options }));

  test("gets, lists, creates, updates, destroys", async () => {
    const id = `made ${how}`;
    expect((await client().get({ ...kind, id: "a" })).resource?.metadata).toMatchObject({ id: "a", version: "1" });
    const listed: (string | undefined)[] = [];
    for await (const { resource } of client().list(kind)) listed.push(resource?.metadata?.id);
    expect(listed).toEqual(["a"]);
    const { resource } = await client().create(guest(id, "a: 1\n".repeat(5_000)));
    expect(resource?.metadata).toMatchObject({ id, version: "1" });
    const changed = { metadata: resource?.metadata, spec: { yamlSpec: "a: 2\n" } };
    const updated = await client().update({ newResource: changed as never, options: { expectedPhase: "running" } });
    expect(updated.resource?.metadata?.version).toBe("2");
    await client().destroy({ namespace: "n", type: "Guests.example", id });
  });

  test("errors carry their codes", async () => {
    const error: unknown = await client()
      .get({ ...kind, id: "none" })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: expect.stringContaining("does not exist") });
    await client().create(guest(`twice ${how}`));
    await expect(client().create(guest(`twice ${how}`))).rejects.toMatchObject({ code: Code.AlreadyExists });
  });

  test("a watch streams, and is let go of when it is cancelled", async () => {
    const stop = new AbortController();
    const seen: WatchResponse[] = [];
    const watching = (async () => {
      for await (const response of client().watch(
        { ...kind, apiVersion: 1, options: { bootstrapContents: true } },
        { signal: stop.signal },
      )) {
        seen.push(response);
      }
    })();
    await eventually(() => expect(seen.flatMap(({ event }) => event).length).toBeGreaterThanOrEqual(2));
    stop.abort();
    await expect(watching).rejects.toMatchObject({ code: Code.Canceled });
    await eventually(() => expect(serving.watchCount).toBe(0));
  });

  test("a deadline ends a call", async () => {
    const watching = (async () => {
      for await (const _ of client().watch({ ...kind, id: "a" }, { timeoutMs: 100 }));
    })();
    await expect(watching).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  });
});
