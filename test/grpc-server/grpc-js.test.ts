import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { Client, credentials, type ClientReadableStream, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { EventType, State, type WatchResponse } from "../gen/cosi/resource/state_pb.ts";
import { Status } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { Served } from "./fixture.ts";

const kind = { namespace: "default", type: "os/path" };
const resource = (id: string) => ({ metadata: { ...kind, id, version: "undefined", phase: "running" }, spec: {} });

/** A served State, and grpc-js as its client. */
class ForeignClient implements AsyncDisposable {
  readonly #served: Served;
  readonly #client: Client;

  private constructor(served: Served) {
    this.#served = served;
    this.#client = new Client(served.address, credentials.createInsecure());
  }

  static async start(): Promise<ForeignClient> {
    return new ForeignClient(await Served.start(new MemoryState()));
  }

  get server(): Served["server"] {
    return this.#served.server;
  }

  unary<I extends DescMessage>(
    method: DescMethod & { readonly input: I },
    request: MessageInitShape<I>,
    deadlineMs = 10_000,
  ): Promise<unknown> {
    const { path, encode, decode } = codecOf(method);
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + deadlineMs;
      this.#client.makeUnaryRequest(path, encode, decode, request, { deadline }, (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
  }

  stream<I extends DescMessage>(
    method: DescMethod & { readonly input: I },
    request: MessageInitShape<I>,
  ): ClientReadableStream<unknown> {
    const { path, encode, decode } = codecOf(method);
    return this.#client.makeServerStreamRequest(path, encode, decode, request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    await this.#served[Symbol.asyncDispose]();
  }
}

function codecOf({ parent, name, input, output }: DescMethod) {
  return {
    path: `/${parent.typeName}/${name}`,
    encode: (request: MessageInitShape<DescMessage>) => Buffer.from(toBinary(input, create(input, request))),
    decode: (bytes: Buffer): unknown => fromBinary(output, bytes),
  };
}

const failure = (call: Promise<unknown>): Promise<ServiceError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: ServiceError) => error,
  );

describe("grpc-js as the client of a served State", () => {
  test("writes, reads and lists", async () => {
    await using client = await ForeignClient.start();
    const { method } = State;
    for (const id of ["b", "a"]) await client.unary(method.create, { resource: resource(id) });
    expect(await client.unary(method.get, { ...kind, id: "a" })).toMatchObject({
      resource: { metadata: { id: "a", version: "1" } },
    });
    const ids: unknown[] = [];
    for await (const one of client.stream(method.list, kind)) ids.push(one.resource.metadata.id);
    expect(ids).toEqual(["a", "b"]);
    expect(await client.unary(method.teardown, { ...kind, id: "a" })).toMatchObject({ destroyReady: true });
    await client.unary(method.destroy, { ...kind, id: "a" });
  });

  test("gets statuses with their details", async () => {
    await using client = await ForeignClient.start();
    const error = await failure(client.unary(State.method.get, { ...kind, id: "ä" }));
    expect(error.code).toBe(Status.notFound);
    expect(error.details).toContain("ä");
    const [details] = error.metadata.get("grpc-status-details-bin");
    expect(String(details)).toContain("NOT_FOUND");
  });

  test("watches, and a cancelled watch is freed", async () => {
    await using client = await ForeignClient.start();
    const options = { bootstrapContents: true, aggregated: true };
    const watch = client.stream(State.method.watch, { ...kind, options, apiVersion: 1 });
    const messages: WatchResponse[] = [];
    const codes: number[] = [];
    watch.on("data", (message: WatchResponse) => messages.push(message));
    watch.on("error", ({ code }: ServiceError) => codes.push(code));
    await eventually(() => expect(messages).toHaveLength(2));
    expect(messages[0]?.event).toEqual([]);
    expect(messages[1]?.event.map(({ eventType }) => eventType)).toEqual([EventType.BOOTSTRAPPED]);
    await client.unary(State.method.create, { resource: resource("a") });
    await eventually(() => expect(messages).toHaveLength(3));
    expect(messages[2]?.event.map(({ eventType }) => eventType)).toEqual([EventType.CREATED]);
    watch.cancel();
    await eventually(() => expect(client.server.watchCount).toBe(0));
    await eventually(() => expect(codes).toEqual([Status.cancelled]));
  });

  test("its deadline ends a wait on the server too", async () => {
    await using client = await ForeignClient.start();
    const held = { ...resource("a"), metadata: { ...resource("a").metadata, finalizers: ["held"] } };
    await client.unary(State.method.create, { resource: held });
    const error = await failure(client.unary(State.method.teardownAndDestroy, { ...kind, id: "a" }, 100));
    expect(error.code).toBe(Status.deadlineExceeded);
    await eventually(() => expect(client.server.callCount).toBe(0));
  });
});
