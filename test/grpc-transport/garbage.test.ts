import { fc, test } from "@fast-check/vitest";
import { connect, createServer } from "node:net";
import { describe, expect } from "vitest";
import { GrpcChannel } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, echo, failureOf, openDirectory, serverStream, startServer, text } from "./fixture.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** Header blocks that are read without a table: a POST to `/t.T/Echo` and the like, and what answers it. */
const literal = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
const REQUEST = Buffer.concat([
  literal(":method", "POST"),
  literal(":scheme", "http"),
  literal(":path", "/t.T/Echo"),
  literal(":authority", "localhost"),
  literal("content-type", "application/grpc"),
]);
const RESPONSE = Buffer.concat([literal(":status", "200"), literal("content-type", "application/grpc")]);
const TRAILERS = literal("grpc-status", "0");

/** A frame of HTTP/2: mostly a plausible one. */
const frameOf = (blocks: readonly Buffer[]): fc.Arbitrary<Buffer> =>
  fc
    .record({
      type: fc.oneof(fc.constantFrom(0, 1, 3, 4, 6, 7, 8, 9), fc.nat(255)),
      flags: fc.oneof(fc.constantFrom(0, 1, 4, 5), fc.nat(255)),
      stream: fc.oneof(fc.constantFrom(0, 1, 3, 5, 7), fc.nat(2 ** 31 - 1)),
      payload: fc.oneof(
        fc.constantFrom(...blocks),
        fc.constantFrom(
          Buffer.from([0, 0, 0, 0, 1, 7]),
          Buffer.from([0, 255, 255, 255, 255]),
          Buffer.alloc(4),
          Buffer.alloc(8),
        ),
        fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some)),
      ),
    })
    .map(({ type, flags, stream, payload }) => {
      const head = Buffer.alloc(9);
      head.writeUIntBE(payload.length, 0, 3);
      head[3] = type;
      head[4] = flags;
      head.writeUInt32BE(stream, 5);
      return Buffer.concat([head, payload]);
    });

const framesOf = (...blocks: readonly Buffer[]): fc.Arbitrary<Buffer> =>
  fc.array(frameOf(blocks), { minLength: 1, maxLength: 12 }).map((frames) => Buffer.concat(frames));

describe("frames that make no sense", () => {
  test("from clients: the server lets go of each of them, and serves the others", async () => {
    await using server = await startServer({
      Echo: echo,
      Count: serverStream((call) => void call.send([bytes("a"), bytes("b")])),
    });
    await using channel = new GrpcChannel(server.address);
    await channel.unary("/t.T/Echo", bytes("x"));
    await fc.assert(
      fc.asyncProperty(framesOf(REQUEST), async (frames) => {
        const socket = connect(server.path);
        socket.on("error", () => {});
        socket.resume();
        const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
        socket.end(Buffer.concat([PREFACE, SETTINGS, frames]));
        await closed;
        expect(text(await channel.unary("/t.T/Echo", bytes("here")))).toBe("here");
      }),
      { numRuns: 300 },
    );
    await eventually(() => expect(server.server.connectionCount).toBe(1));
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("from servers: the call ends one way or the other", async () => {
    await using directory = await openDirectory();
    let frames: Buffer = SETTINGS;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.write(SETTINGS);
      setImmediate(() => socket.end(frames));
      socket.resume();
    });
    await new Promise<void>((resolve) => server.listen(directory.path("s"), () => resolve()));
    await fc.assert(
      fc.asyncProperty(framesOf(RESPONSE, TRAILERS), async (some) => {
        frames = some;
        const channel = new GrpcChannel(`unix:${directory.path("s")}`);
        const unary = channel.unary("/t.T/Echo", bytes("x")).then(
          () => "answered",
          () => "failed",
        );
        const stream = channel.serverStream("/t.T/Count", bytes("x"));
        const reading = (async () => {
          while ((await stream.read()) !== undefined);
        })().then(
          () => "ended",
          () => "failed",
        );
        expect(["answered", "failed"]).toContain(await unary);
        expect(["ended", "failed"]).toContain(await reading);
        expect(channel.callCount).toBe(0);
        await channel.close();
      }),
      { numRuns: 300 },
    );
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await using channel = new GrpcChannel(`unix:${directory.path("s")}`);
    expect(await failureOf(channel.unary("/t.T/Echo", bytes("")))).toBeInstanceOf(Error);
  });
});
