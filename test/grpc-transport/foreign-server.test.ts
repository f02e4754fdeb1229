import http2, { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, failureOf, frame, openDirectory, text } from "./fixture.ts";

interface ForeignServer extends AsyncDisposable {
  readonly address: string;
  readonly sessions: ServerHttp2Session[];
}

/** An HTTP/2 server with no gRPC in it, for what a proper server never sends. */
async function startHttp2(answer: (stream: ServerHttp2Stream) => void): Promise<ForeignServer> {
  const server = http2.createServer();
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.resume();
    answer(stream);
  });
  return { sessions, ...(await listenAnywhere(server, () => sessions.forEach((session) => session.destroy()))) };
}

/** A server of bytes. */
async function startRaw(accept: (socket: Socket) => void): Promise<AsyncDisposable & { readonly address: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    accept(socket);
  });
  return listenAnywhere(server, () => sockets.forEach((socket) => socket.destroy()));
}

async function listenAnywhere(
  server: Http2Server | Server,
  cut: () => void,
): Promise<AsyncDisposable & { readonly address: string }> {
  const directory = await openDirectory();
  const path = directory.path("s");
  await new Promise<void>((resolve) => server.listen(path, () => resolve()));
  return {
    address: `unix:${path}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
      await directory[Symbol.asyncDispose]();
    },
  };
}

const OK_HEADERS = { ":status": 200, "content-type": "application/grpc" };

/** Answers with these pieces of a body, then these trailers. */
function respond(stream: ServerHttp2Stream, pieces: readonly Uint8Array[], trailers: Record<string, string>): void {
  stream.respond(OK_HEADERS, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  for (const piece of pieces) stream.write(piece);
  stream.end();
}

describe("a client with a server that is not ours", () => {
  test("reads a message split over frames, and one that shares a frame with others", async () => {
    const all = Buffer.concat([frame(bytes("one")), frame(bytes("two")), frame(bytes(""))]);
    await using server = await startHttp2((stream) => {
      const pieces = stream.session?.state.nextStreamID === 1 ? [all] : [...all].map((byte) => Buffer.from([byte]));
      respond(stream, pieces, { "grpc-status": "0" });
    });
    await using channel = new GrpcChannel(server.address);
    for (let round = 0; round < 2; round++) {
      const messages: string[] = [];
      for await (const message of channel.serverStream("/a/b", bytes(""))) messages.push(text(message));
      expect(messages).toEqual(["one", "two", ""]);
    }
  });

  test.each<[string, (stream: ServerHttp2Stream) => void, number, string]>([
    [
      "a status in headers alone, its text badly encoded",
      (stream) =>
        stream.respond({ ...OK_HEADERS, "grpc-status": "5", "grpc-message": "no%2 %C3%BC" }, { endStream: true }),
      Status.notFound,
      "no%2 ü",
    ],
    [
      "a status that does not exist",
      (stream) => stream.respond({ ...OK_HEADERS, "grpc-status": "99" }, { endStream: true }),
      Status.unknown,
      "the server gave the status UNKNOWN (99, which gRPC does not define) without a message",
    ],
    [
      "no status",
      (stream) => respond(stream, [frame(bytes("x"))], {}),
      Status.internal,
      "the server ended the call without a status",
    ],
    [
      "OK without a message",
      (stream) => respond(stream, [], { "grpc-status": "0" }),
      Status.unimplemented,
      "/a/b answered without a message",
    ],
    [
      "OK in headers alone",
      (stream) => stream.respond({ ...OK_HEADERS, "grpc-status": "0" }, { endStream: true }),
      Status.unimplemented,
      "/a/b answered without a message",
    ],
    [
      "two messages",
      (stream) => respond(stream, [frame(bytes("x")), frame(bytes("y"))], { "grpc-status": "0" }),
      Status.unimplemented,
      "/a/b answered with more than one message",
    ],
    [
      "half a message",
      (stream) => respond(stream, [frame(bytes("hello")).subarray(0, 8)], { "grpc-status": "0" }),
      Status.internal,
      "the answer ends in the middle of a message",
    ],
    [
      "a message, then an error",
      (stream) => respond(stream, [frame(bytes("x"))], { "grpc-status": "10", "grpc-message": "late" }),
      Status.aborted,
      "late",
    ],
    [
      "a compressed message",
      (stream) => respond(stream, [frame(bytes("x"), 1)], { "grpc-status": "0" }),
      Status.unimplemented,
      "compressed messages are not supported",
    ],
    [
      "a web page",
      (stream) => stream.respond({ ":status": 200, "content-type": "text/html" }, { endStream: true }),
      Status.unknown,
      "the server answered with text/html, which is not gRPC",
    ],
    [
      "HTTP 503",
      (stream) => stream.respond({ ":status": 503 }, { endStream: true }),
      Status.unavailable,
      "the server answered with HTTP status 503 (Service Unavailable)",
    ],
    [
      "HTTP 401",
      (stream) => stream.respond({ ":status": 401 }, { endStream: true }),
      Status.unauthenticated,
      "the server answered with HTTP status 401 (Unauthorized)",
    ],
    [
      "HTTP 404",
      (stream) => stream.respond({ ":status": 404 }, { endStream: true }),
      Status.unimplemented,
      "the server answered with HTTP status 404 (Not Found)",
    ],
    [
      "a reset",
      (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
      Status.internal,
      "the server reset the call: INTERNAL_ERROR (an internal error)",
    ],
    [
      "a reset with a code of its own",
      (stream) => stream.close(77),
      Status.internal,
      "the server reset the call: code 77, which HTTP/2 does not define",
    ],
    [
      "a status without a message",
      (stream) => respond(stream, [], { "grpc-status": "9" }),
      Status.failedPrecondition,
      "the server gave the status FAILED_PRECONDITION without a message",
    ],
    [
      "a message that fakes another line",
      (stream) => respond(stream, [], { "grpc-status": "13", "grpc-message": "no%0Aall is well%1B%5B2J%C2%9B2J" }),
      Status.internal,
      "no\\nall is well\\u001b[2J\\u009b2J",
    ],
    [
      "a blank message",
      (stream) => respond(stream, [], { "grpc-status": "13", "grpc-message": "%20%0A" }),
      Status.internal,
      "the server gave the status INTERNAL without a message",
    ],
    [
      "a refusal",
      (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM),
      Status.unavailable,
      "the server reset the call: REFUSED_STREAM (the call was not processed)",
    ],
    [
      "a cancellation",
      (stream) => stream.close(http2.constants.NGHTTP2_CANCEL),
      Status.cancelled,
      "the server reset the call: CANCEL (the call is not wanted any more)",
    ],
    [
      "the end of the connection",
      (stream) => stream.session?.destroy(),
      Status.unavailable,
      "the connection was closed",
    ],
  ])("that answers with %s fails its call", async (_, answer, code, message) => {
    await using server = await startHttp2(answer);
    await using channel = new GrpcChannel(server.address);
    expect(await failureOf(channel.unary("/a/b", bytes("x")))).toMatchObject({ code, message });
    expect(channel.callCount).toBe(0);
  });

  test.each<[string, (stream: ServerHttp2Stream) => void, object]>([
    ["an error", (stream) => respond(stream, [frame(bytes("x"))], { "grpc-status": "10" }), { code: Status.aborted }],
    ["no status", (stream) => respond(stream, [frame(bytes("x"))], {}), { code: Status.internal }],
    [
      "half a message",
      (stream) => respond(stream, [Buffer.concat([frame(bytes("x")), Buffer.alloc(3)])], { "grpc-status": "0" }),
      { code: Status.internal },
    ],
    [
      "a message that is too large",
      (stream) => respond(stream, [Buffer.concat([frame(bytes("x")), Buffer.from([0, 1, 0, 0, 0])])], {}),
      { code: Status.resourceExhausted },
    ],
  ])("that ends a stream with %s after a message: both are read", async (_, answer, failure) => {
    await using server = await startHttp2(answer);
    await using channel = new GrpcChannel(server.address);
    const stream = channel.serverStream("/a/b", bytes(""));
    expect((await stream.read())?.map(text)).toEqual(["x"]);
    expect(await failureOf(stream.read())).toMatchObject(failure);
    expect(channel.callCount).toBe(0);
  });

  test("that writes the media type in capitals is understood", async () => {
    await using server = await startHttp2((stream) => {
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.respond({ ":status": 200, "content-type": "Application/gRPC+Proto" }, { waitForTrailers: true });
      stream.end(frame(bytes("x")));
    });
    await using channel = new GrpcChannel(server.address);
    expect(text(await channel.unary("/a/b", bytes("")))).toBe("x");
  });

  test("that closes the connection with a code: the call says in words with which", async () => {
    await using server = await startHttp2((stream) =>
      stream.session?.goaway(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM, 0),
    );
    await using channel = new GrpcChannel(server.address);
    expect(await failureOf(channel.unary("/a/b", bytes("")))).toMatchObject({
      code: Status.unavailable,
      message: "the server closed the connection: ENHANCE_YOUR_CALM (too many requests or pings, or too much work)",
    });
  });

  test("that says it takes no more calls is left for a new connection, its open calls finished", async () => {
    const open: ServerHttp2Stream[] = [];
    await using server = await startHttp2((stream) => open.push(stream));
    await using channel = new GrpcChannel(server.address);
    const first = channel.unary("/a/b", bytes("1"));
    await eventually(() => expect(open).toHaveLength(1));
    server.sessions[0]?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1);
    await eventually(() => expect(channel.state).toBe("idle"));
    const second = channel.unary("/a/b", bytes("2"));
    await eventually(() => expect(open).toHaveLength(2));
    expect(server.sessions).toHaveLength(2);
    open.forEach((stream, index) => respond(stream, [frame(bytes(`answer ${index + 1}`))], { "grpc-status": "0" }));
    expect(text(await first)).toBe("answer 1");
    expect(text(await second)).toBe("answer 2");
  });

  test("calls that a closing server did not begin are UNAVAILABLE", async () => {
    const open: ServerHttp2Stream[] = [];
    await using server = await startHttp2((stream) => open.push(stream));
    await using channel = new GrpcChannel(server.address);
    const calls = [1, 2, 3].map((index) => failureOf(channel.unary("/a/b", bytes(`${index}`))));
    await eventually(() => expect(open).toHaveLength(3));
    // It has begun the first of them only, it says.
    server.sessions[0]?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1);
    for (const call of calls.slice(1)) expect(await call).toMatchObject({ code: Status.unavailable });
    const [first] = open;
    if (first !== undefined) respond(first, [], { "grpc-status": "5" });
    expect(await calls[0]).toMatchObject({ code: Status.notFound });
  });

  test("that wants fewer pings gets fewer: half as many after each complaint", async () => {
    const clock = new ManualClock();
    const pings: number[] = [];
    await using server = await startHttp2(() => {});
    await using channel = new GrpcChannel(server.address, { clock, keepaliveMs: 1_000 });
    for (const everyMs of [1_000, 2_000, 4_000]) {
      const call = failureOf(channel.unary("/a/b", bytes("")));
      await eventually(() => expect(channel.state).toBe("ready"));
      await eventually(() => expect(server.sessions.at(-1)?.destroyed).toBe(false));
      const session = server.sessions.at(-1);
      session?.on("ping", () => pings.push(everyMs));
      await clock.advance(everyMs - 1);
      await new Promise<void>((resolve) => session?.ping(() => resolve()));
      expect(pings).not.toContain(everyMs);
      await clock.advance(1);
      await eventually(() => expect(pings).toContain(everyMs));
      session?.goaway(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from("too_many_pings"));
      expect(await call).toMatchObject({ code: Status.unavailable });
      await eventually(async () => {
        await clock.advance(5_000);
        expect(channel.state).toBe("idle");
      });
    }
  });
});

describe("a client with a peer that speaks no HTTP/2", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["garbage", (socket) => socket.end(Buffer.alloc(1000, 0xaa))],
    ["HTTP/1", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")],
    ["nothing, and closes", (socket) => socket.end()],
    ["nothing, and resets", (socket) => socket.destroy()],
  ])("that sends %s: the call is UNAVAILABLE", async (_, accept) => {
    await using server = await startRaw(accept);
    await using channel = new GrpcChannel(server.address);
    expect(await failureOf(channel.unary("/a/b", bytes("")))).toMatchObject({
      code: Status.unavailable,
      message: expect.stringContaining("no connection: "),
    });
    expect(channel.state).toBe("backoff");
  });

  test("that says nothing at all: the attempt ends after its time", async () => {
    const clock = new ManualClock();
    let accepted = 0;
    await using server = await startRaw(() => (accepted += 1));
    await using channel = new GrpcChannel(server.address, { clock, connectTimeoutMs: 3_000 });
    const call = failureOf(channel.unary("/a/b", bytes("")));
    await eventually(() => expect(accepted).toBe(1));
    await clock.advance(2_999);
    expect(channel.state).toBe("connecting");
    await clock.advance(1);
    expect(await call).toMatchObject({ code: Status.unavailable, message: "no connection: no answer within 3000 ms" });
  });

  test("garbage in the middle of a good connection fails its calls", async () => {
    const sockets: Socket[] = [];
    await using server = await startRaw((socket) => {
      sockets.push(socket);
      // An empty SETTINGS frame: a good beginning.
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      socket.resume();
    });
    await using channel = new GrpcChannel(server.address);
    const call = failureOf(channel.unary("/a/b", bytes("")));
    await eventually(() => expect(channel.state).toBe("ready"));
    sockets[0]?.write(Buffer.alloc(1000, 0xaa));
    expect(await call).toMatchObject({ code: Status.unavailable });
  });
});
