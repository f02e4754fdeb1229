import { connect } from "node:net";
import http from "node:http";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, Status } from "../../src/rpc/index.ts";
import { eventually, RecordingLogger } from "../../src/testing/index.ts";
import {
  ask,
  bytes,
  echo,
  frame,
  grpcHeaders,
  openHttp2,
  serverStream,
  startServer,
  text,
  unary,
  waiter,
} from "./fixture.ts";

const methods = {
  Echo: echo,
  Count: serverStream((call) => void call.send([bytes("a"), bytes("b")])),
};

describe("what a server answers to a client that is not ours", () => {
  test("headers, one framed message, trailers", async () => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, grpcHeaders("Echo"), [frame(bytes("hello"))]);
    expect(answer.headers).toMatchObject({ ":status": 200, "content-type": "application/grpc" });
    expect(answer.headers["grpc-status"]).toBeUndefined();
    expect(answer.body).toEqual(frame(bytes("hello")));
    expect(answer.trailers).toMatchObject({ "grpc-status": "0" });
    expect(answer.rstCode).toBe(0);
  });

  test.each([
    "application/grpc+proto",
    "application/grpc;charset=utf-8",
    "Application/GRPC",
    "application/gRPC+PROTO ; charset=utf-8",
  ])("content type %s is fine", async (type) => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, { ...grpcHeaders("Echo"), "content-type": type }, [frame(bytes("x"))]);
    expect(answer.trailers["grpc-status"]).toBe("0");
  });

  test("a message split over many DATA frames is put together", async () => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const pieces = [...frame(bytes("in pieces"))].map((byte) => Buffer.from([byte]));
    const answer = await ask(client.session, grpcHeaders("Echo"), pieces);
    expect(answer.body).toEqual(frame(bytes("in pieces")));
  });

  test.each([
    ["another content type", { "content-type": "application/json" }, 415],
    ["JSON in gRPC", { "content-type": "application/grpc+json" }, 415],
    ["no content type", { "content-type": "" }, 415],
    ["GET", { ":method": "GET" }, 405],
    ["HEAD", { ":method": "HEAD" }, 405],
    ["PUT", { ":method": "PUT" }, 405],
  ])("%s is refused by HTTP", async (_, headers, status) => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, { ...grpcHeaders("Echo"), ...headers }, [frame(bytes("x"))]);
    expect(answer.headers[":status"]).toBe(status);
    expect(answer.body).toHaveLength(0);
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test.each([
    ["an unknown path", { ":path": "/x" }, [], Status.unimplemented],
    ["a path that is no method", { ":path": "/t.T/Echo/more" }, [], Status.unimplemented],
    ["a malformed timeout", { "grpc-timeout": "soon" }, [frame(bytes("x"))], Status.internal],
    ["no message", {}, [], Status.unimplemented],
    ["two messages in one frame", {}, [Buffer.concat([frame(bytes("a")), frame(bytes("b"))])], Status.unimplemented],
    ["two messages in two frames", {}, [frame(bytes("a")), frame(bytes("b"))], Status.unimplemented],
    ["half a message", {}, [frame(bytes("hello")).subarray(0, 7)], Status.internal],
    ["half a prefix", {}, [Buffer.from([0, 0])], Status.internal],
    ["an unknown encoding", { "grpc-encoding": "snappy" }, [frame(bytes("x"), 1)], Status.unimplemented],
    ["a compressed message without an encoding", {}, [frame(gzipSync("x"), 1)], Status.internal],
    ["a compressed message that is none", { "grpc-encoding": "gzip" }, [frame(bytes("x"), 1)], Status.internal],
    ["an unknown flag", {}, [frame(bytes("x"), 9)], Status.internal],
    ["a message that is too large", {}, [Buffer.from([0, 0, 0x40, 0, 1])], Status.resourceExhausted],
  ])("%s is refused by status, with headers alone", async (_, headers, pieces, code) => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, { ...grpcHeaders("Echo"), ...headers }, pieces);
    expect(answer.headers).toMatchObject({
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": String(code),
      "grpc-accept-encoding": "identity,gzip,deflate",
    });
    expect(answer.headers["grpc-message"]).toBeTruthy();
    expect(answer.trailers).toEqual({});
    expect(answer.body).toHaveLength(0);
    // The connection is as good as before.
    const next = await ask(client.session, grpcHeaders("Count"), [frame(bytes(""))]);
    expect(next.trailers["grpc-status"]).toBe("0");
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("a message that is too large is refused while it is still being sent, and the sender told to stop", async () => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const stream = client.session.request(grpcHeaders("Echo"), { endStream: false });
    const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
    const headers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once("response", resolve));
    stream.resume();
    stream.write(Buffer.from([0, 0x10, 0, 0, 0]));
    expect((await headers)["grpc-status"]).toBe(String(Status.resourceExhausted));
    // Nothing more was sent: it is the server that ends the stream.
    await closed;
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("a deadline of nothing is passed before the handler runs", async () => {
    let handled = 0;
    await using server = await startServer({
      Echo: unary((call) => {
        handled += 1;
        return call.message;
      }),
    });
    await using client = await openHttp2(server.path);
    const stream = client.session.request({ ...grpcHeaders("Echo"), "grpc-timeout": "0n" }, { endStream: false });
    const headers = await new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once("response", resolve));
    expect(headers["grpc-status"]).toBe(String(Status.deadlineExceeded));
    stream.close();
    expect(handled).toBe(0);
  });

  test("a request that never ends is ended by its deadline, and by the client", async () => {
    const clock = new ManualClock();
    await using server = await startServer(methods, { clock });
    await using client = await openHttp2(server.path);
    const stream = client.session.request({ ...grpcHeaders("Echo"), "grpc-timeout": "5S" }, { endStream: false });
    const headers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once("response", resolve));
    stream.write(frame(bytes("x")));
    const endless = client.session.request(grpcHeaders("Echo"), { endStream: false });
    endless.on("error", () => {});
    endless.write(frame(bytes("x")));
    await eventually(() => expect(server.server.callCount).toBe(2));
    await clock.advance(5_000);
    expect((await headers)["grpc-status"]).toBe(String(Status.deadlineExceeded));
    endless.close(http2.constants.NGHTTP2_CANCEL);
    await eventually(() => expect(server.server.callCount).toBe(0));
    // Only the connection's own ping is left.
    expect(clock.pending).toBe(1);
  });

  test("requests that are never complete are bounded together", async () => {
    await using server = await startServer(methods, { maxReceivingBytes: 100_000 });
    await using client = await openHttp2(server.path);
    const statuses: string[] = [];
    for (let index = 0; index < 20; index++) {
      const stream = client.session.request(grpcHeaders("Echo"), { endStream: false });
      stream.on("error", () => {});
      stream.on("response", (headers) => statuses.push(String(headers["grpc-status"])));
      stream.write(frame(new Uint8Array(20_000)).subarray(0, 15_000));
    }
    await eventually(() => expect(statuses).toHaveLength(14));
    expect(new Set(statuses)).toEqual(new Set([String(Status.resourceExhausted)]));
    expect(server.server.callCount).toBe(6);
  });

  test("header blocks above the bound are not even looked at", async () => {
    await using server = await startServer(methods, { maxHeaderBytes: 4096 });
    await using client = await openHttp2(server.path);
    const large = await ask(client.session, { ...grpcHeaders("Echo"), big: "x".repeat(10_000) }, []);
    expect(large.headers).toEqual({});
    expect(large.rstCode).not.toBe(0);
    const next = await ask(client.session, grpcHeaders("Echo"), [frame(bytes("x"))]);
    expect(next.trailers["grpc-status"]).toBe("0");
  });

  test.each(["%2Frun%2Fx.sock", "localhost", "x:80"])("the authority %s is not looked at", async (authority) => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, { ...grpcHeaders("Echo"), ":authority": authority }, [frame(bytes("x"))]);
    expect(answer.trailers["grpc-status"]).toBe("0");
  });

  test("an authority that is no host costs that stream alone", async () => {
    await using server = await startServer(methods);
    await using client = await openHttp2(server.path);
    const bad = await ask(client.session, { ...grpcHeaders("Echo"), ":authority": "/run/x.sock" }, []);
    expect(bad.headers).toEqual({});
    expect(bad.rstCode).toBe(http2.constants.NGHTTP2_PROTOCOL_ERROR);
    const answer = await ask(client.session, grpcHeaders("Echo"), [frame(bytes("x"))]);
    expect(answer.trailers["grpc-status"]).toBe("0");
  });
});

describe("what a server does with a peer that speaks no HTTP/2", () => {
  test.each([
    ["garbage", Buffer.from("\x00\xff\x13\x37garbage".repeat(100), "latin1")],
    ["a request of HTTP/1", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
    [
      "a good beginning, then garbage",
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.alloc(500, 0xee)]),
    ],
  ])("%s is cut off, and others go on", async (_, data) => {
    await using server = await startServer(methods);
    await using channel = new GrpcChannel(server.address);
    await channel.unary("/t.T/Echo", bytes("x"));
    const socket = connect(server.path);
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.resume();
    socket.write(data);
    await closed;
    expect(text(await channel.unary("/t.T/Echo", bytes("still here")))).toBe("still here");
    await eventually(() => expect(server.server.connectionCount).toBe(1));
  });

  test("a client of HTTP/1 gets an error, not a wait", async () => {
    await using server = await startServer(methods);
    const failure = await new Promise<unknown>((resolve) => {
      http.get({ socketPath: server.path, path: "/" }, resolve).on("error", resolve);
    });
    expect(failure).toBeInstanceOf(Error);
  });

  test("a peer that says nothing is cut off after the time of a handshake", async () => {
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    await using server = await startServer(methods, { clock, logger });
    const socket = connect(server.path);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.resume();
    await eventually(() => expect(server.server.connectionCount).toBe(1));
    await clock.advance(9_999);
    expect(socket.destroyed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      ["warn", "A gRPC client said nothing; its connection is cut"],
    ]);
    expect(clock.pending).toBe(0);
  });

  test("connections above the bound are closed at once", async () => {
    const { method } = waiter();
    await using server = await startServer({ Wait: method, Echo: echo }, { maxConnections: 2 });
    await using first = new GrpcChannel(server.address);
    await using second = new GrpcChannel(server.address);
    await first.unary("/t.T/Echo", bytes("x"));
    await second.unary("/t.T/Echo", bytes("x"));
    await using third = new GrpcChannel(server.address);
    await expect(third.unary("/t.T/Echo", bytes("x"))).rejects.toMatchObject({ code: Status.unavailable });
    await first.close();
    await eventually(async () => expect(text(await third.unary("/t.T/Echo", bytes("x")))).toBe("x"));
  });
});
