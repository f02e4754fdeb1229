import {
  Client,
  credentials,
  Metadata as PeerMetadata,
  Server,
  ServerCredentials,
  type ClientReadableStream,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { GrpcChannel, GrpcError, Metadata, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { aborted, bytes, echo, failureOf, openDirectory, serverStream, startServer, text, unary } from "./fixture.ts";

const asIs = (message: Buffer): Buffer => message;
const TEXT = "Größe 100% – 漢字 😀";

/** grpc-js as the client of a server of ours. */
class PeerClient implements AsyncDisposable {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  unary(
    method: string,
    message: string,
    options: { deadline?: number; metadata?: PeerMetadata; onCall?: (cancel: () => void) => void } = {},
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        `/t.T/${method}`,
        asIs,
        asIs,
        Buffer.from(message),
        options.metadata ?? new PeerMetadata(),
        options.deadline === undefined ? {} : { deadline: Date.now() + options.deadline },
        (error, answer) => (error === null ? resolve(text(answer)) : reject(error)),
      );
      options.onCall?.(() => call.cancel());
    });
  }

  stream(method: string, message: string): ClientReadableStream<Buffer> {
    return this.#client.makeServerStreamRequest(`/t.T/${method}`, asIs, asIs, Buffer.from(message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }
}

describe("grpc-js as the client", () => {
  test("calls, with metadata and messages of any size", async () => {
    await using server = await startServer({
      Echo: echo,
      Meta: unary(({ metadata }) =>
        bytes(
          `${metadata.get("a")} ${metadata
            .getBytes("b-bin")
            .map((one) => [...one])
            .join("|")}`,
        ),
      ),
    });
    await using client = new PeerClient(server.address);
    for (const size of [0, 1, 20_000, 3_000_000]) {
      expect((await client.unary("Echo", "x".repeat(size))).length).toBe(size);
    }
    const metadata = new PeerMetadata();
    metadata.add("a", "1");
    metadata.add("a", "2");
    metadata.add("b-bin", Buffer.from([0, 255]));
    metadata.add("b-bin", Buffer.from([7]));
    expect(await client.unary("Meta", "", { metadata })).toBe("1, 2 0,255|7");
  });

  test("gets status, text, details and trailers of an error", async () => {
    await using server = await startServer({
      Fail: unary(() => {
        throw new GrpcError(Status.failedPrecondition, TEXT, {
          details: new Uint8Array([8, 9, 18, 1, 120]),
          metadata: Metadata.of({ reason: "busy" }),
        });
      }),
      FailLate: serverStream((call) => {
        call.send(bytes("a"));
        throw new GrpcError(Status.dataLoss, TEXT);
      }),
    });
    await using client = new PeerClient(server.address);
    const error = (await failureOf(client.unary("Fail", ""))) as ServiceError;
    expect(error).toMatchObject({ code: Status.failedPrecondition, details: TEXT });
    expect(error.metadata.get("reason")).toEqual(["busy"]);
    expect(error.metadata.get("grpc-status-details-bin")).toEqual([Buffer.from([8, 9, 18, 1, 120])]);
    const messages: string[] = [];
    const late = await failureOf(
      (async () => {
        for await (const message of client.stream("FailLate", "")) messages.push(text(message));
      })(),
    );
    expect(messages).toEqual(["a"]);
    expect(late).toMatchObject({ code: Status.dataLoss, details: TEXT });
  });

  test("reads a long stream, and stops the server when it stops", async () => {
    let sent = 0;
    await using server = await startServer({
      Count: serverStream(async (call) => {
        for (; sent < 20_000; sent++) {
          if (!call.send(new Uint8Array(1000).fill(sent & 255))) await call.drained();
        }
      }),
    });
    await using client = new PeerClient(server.address);
    const stream = client.stream("Count", "");
    let read = 0;
    const first = Promise.withResolvers<void>();
    stream.on("data", () => {
      read += 1;
      if (read === 1) {
        stream.pause();
        first.resolve();
      }
    });
    await first.promise;
    let before = -1;
    await eventually(
      () => {
        const now = sent;
        expect(now === before).toBe(((before = now), true));
      },
      { intervalMs: 50 },
    );
    expect(sent).toBeLessThan(20_000);
    const ended = new Promise<void>((resolve) => stream.once("end", () => resolve()));
    stream.resume();
    await ended;
    expect(read).toBe(20_000);
  });

  test("cancels, and lets a deadline pass", async () => {
    const reasons: unknown[] = [];
    await using server = await startServer({
      Hang: unary(async ({ signal }) => {
        await aborted(signal);
        reasons.push(signal.reason);
        throw signal.reason;
      }),
    });
    await using client = new PeerClient(server.address);
    let cancel = (): void => {};
    const cancelled = failureOf(client.unary("Hang", "", { onCall: (stop) => (cancel = stop) }));
    await eventually(() => expect(server.server.callCount).toBe(1));
    cancel();
    expect(await cancelled).toMatchObject({ code: Status.cancelled });
    await eventually(() => expect(reasons).toMatchObject([{ code: Status.cancelled }]));
    expect(await failureOf(client.unary("Hang", "", { deadline: 50 }))).toMatchObject({
      code: Status.deadlineExceeded,
    });
    await eventually(() => expect(reasons).toHaveLength(2));
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("is told of a message above the limit, an unknown method, a shutdown", async () => {
    await using server = await startServer(
      {
        Echo: echo,
        Watch: serverStream(async (call) => {
          call.send(bytes("here"));
          await aborted(call.signal);
        }),
      },
      { maxReceivedMessageBytes: 1000 },
    );
    await using client = new PeerClient(server.address);
    expect(await failureOf(client.unary("Echo", "x".repeat(1001)))).toMatchObject({ code: Status.resourceExhausted });
    expect(await failureOf(client.unary("Nothing", ""))).toMatchObject({ code: Status.unimplemented });
    const watch = client.stream("Watch", "");
    const error = new Promise<unknown>((resolve) => watch.once("error", resolve));
    await new Promise<void>((resolve) => watch.once("data", () => resolve()));
    await server.server.close();
    expect(await error).toMatchObject({ code: Status.unavailable, details: "the server is shutting down" });
  });
});

/** grpc-js as the server of a client of ours. */
async function startPeer(): Promise<AsyncDisposable & { readonly address: string; readonly cancelled: () => number }> {
  const directory = await openDirectory();
  const server = new Server();
  let cancelled = 0;
  const method = (name: string, responseStream: boolean) => ({
    path: `/t.T/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  });
  const service: ServiceDefinition = {
    Echo: method("Echo", false),
    Fail: method("Fail", false),
    Hang: method("Hang", false),
    Count: method("Count", true),
  };
  server.addService(service, {
    Echo: (call: { request: Buffer }, done: (error: null, answer: Buffer) => void) => done(null, call.request),
    Fail: (_: unknown, done: (error: object) => void) => {
      const metadata = new PeerMetadata();
      metadata.set("reason", "busy");
      metadata.set("grpc-status-details-bin", Buffer.from([1, 2, 3, 4, 5]));
      done({ code: Status.failedPrecondition, details: TEXT, metadata });
    },
    Hang: (call: { on: (event: "cancelled", listener: () => void) => void }) => {
      call.on("cancelled", () => (cancelled += 1));
    },
    Count: (call: {
      request: Buffer;
      write: (message: Buffer) => boolean;
      end: () => void;
      on: (event: "cancelled", listener: () => void) => void;
    }) => {
      call.on("cancelled", () => (cancelled += 1));
      const total = Number(text(call.request));
      for (let index = 0; index < total; index++) call.write(Buffer.from(`m${index}`));
      if (total > 0) call.end();
      else call.write(Buffer.from("first"));
    },
  });
  const address = `unix:${directory.path("s")}`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return {
    address,
    cancelled: () => cancelled,
    [Symbol.asyncDispose]: async () => {
      server.forceShutdown();
      await directory[Symbol.asyncDispose]();
    },
  };
}

describe("grpc-js as the server", () => {
  test("answers calls of any size", async () => {
    await using server = await startPeer();
    await using channel = new GrpcChannel(server.address);
    for (const size of [0, 1, 20_000, 3_000_000]) {
      expect(await channel.unary("/t.T/Echo", new Uint8Array(size))).toHaveLength(size);
    }
  });

  test("fails with status, text, details and trailers", async () => {
    await using server = await startPeer();
    await using channel = new GrpcChannel(server.address);
    const error = await failureOf(channel.unary("/t.T/Fail", bytes("")));
    expect(error).toMatchObject({ code: Status.failedPrecondition, message: TEXT });
    if (!(error instanceof GrpcError)) return;
    expect([...error.details]).toEqual([1, 2, 3, 4, 5]);
    expect(error.metadata.get("reason")).toBe("busy");
    expect(await failureOf(channel.unary("/t.T/Nothing", bytes("")))).toMatchObject({ code: Status.unimplemented });
  });

  test("streams, and is told when nobody reads any more", async () => {
    await using server = await startPeer();
    await using channel = new GrpcChannel(server.address);
    const messages: string[] = [];
    for await (const message of channel.serverStream("/t.T/Count", bytes("5000"))) messages.push(text(message));
    expect(messages).toEqual(Array.from({ length: 5000 }, (_, index) => `m${index}`));
    for await (const message of channel.serverStream("/t.T/Count", bytes("0"))) {
      expect(text(message)).toBe("first");
      break;
    }
    await eventually(() => expect(server.cancelled()).toBe(1));
  });

  test("is told of a cancelled call and of a deadline", async () => {
    await using server = await startPeer();
    await using channel = new GrpcChannel(server.address);
    const controller = new AbortController();
    const call = failureOf(channel.unary("/t.T/Hang", bytes(""), { signal: controller.signal }));
    await eventually(() => expect(channel.state).toBe("ready"));
    controller.abort("enough");
    expect(await call).toBe("enough");
    await eventually(() => expect(server.cancelled()).toBe(1));
    expect(await failureOf(channel.unary("/t.T/Hang", bytes(""), { deadlineMs: 50 }))).toMatchObject({
      code: Status.deadlineExceeded,
    });
    await eventually(() => expect(server.cancelled()).toBe(2));
  });
});
