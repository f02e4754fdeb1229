import { deflateSync, gzipSync } from "node:zlib";
import { Client, compressionAlgorithms, credentials, Metadata } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { GrpcError, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { ask, aborted, bytes, echo, frame, grpcHeaders, openHttp2, startServer, text, unary } from "./fixture.ts";

const MIB = 2 ** 20;
const asIs = (message: Buffer): Buffer => message;
const encoded = (method: string, encoding: string): Record<string, string> => ({
  ...grpcHeaders(method),
  "grpc-encoding": encoding,
});

/** A megabyte for each KiB of itself. */
const bomb = gzipSync(Buffer.alloc(64 * MIB));

describe("a compressed request", () => {
  test.each<[string, string, Uint8Array, number, string]>([
    ["gzip", "gzip", gzipSync("hello"), 1, "hello"],
    ["deflate", "deflate", deflateSync("hello"), 1, "hello"],
    ["an encoding in capitals", "GZIP", gzipSync("hello"), 1, "hello"],
    ["a plain message in a call with an encoding", "gzip", bytes("hello"), 0, "hello"],
    ["nothing at all", "gzip", gzipSync(""), 1, ""],
    ["several members", "gzip", Buffer.concat([gzipSync("hel"), gzipSync(""), gzipSync("lo")]), 1, "hello"],
    ["the largest message", "gzip", gzipSync(Buffer.alloc(4 * MIB, "a")), 1, "a".repeat(4 * MIB)],
  ])("of %s is understood", async (_, encoding, message, flag, expected) => {
    await using server = await startServer({ Length: unary((call) => call.message), Echo: echo });
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, encoded("Echo", encoding), [frame(message, flag)]);
    expect(answer.trailers["grpc-status"]).toBe("0");
    expect(answer.headers["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
    expect(answer.headers["grpc-encoding"]).toBeUndefined();
    expect(answer.body[0]).toBe(0);
    expect(text(answer.body.subarray(5)) === expected).toBe(true);
  });

  test.each<[string, Uint8Array, number, RegExp]>([
    ["cut off", gzipSync("hello").subarray(0, 15), Status.internal, /cannot be inflated: unexpected end of file/],
    ["empty", bytes(""), Status.internal, /unexpected end of file/],
    ["followed by text", Buffer.concat([gzipSync("a"), bytes("garbage")]), Status.internal, /cannot be inflated/],
    ["followed by zeros", Buffer.concat([gzipSync("a"), Buffer.alloc(9)]), Status.internal, /9 bytes follow its end/],
    ["followed by half a member", Buffer.concat([gzipSync("a"), bytes("\x1f")]), Status.internal, /cannot be/],
    ["of another format", deflateSync("hello"), Status.internal, /incorrect header check/],
    ["damaged", gzipSync("hello").fill(0xff, 10, 14), Status.internal, /cannot be inflated/],
    ["larger than allowed, once inflated", bomb, Status.resourceExhausted, /larger, once inflated, than the 4194304/],
    [
      "larger than allowed in all its members",
      Buffer.concat(Array.from({ length: 5 }, () => gzipSync(Buffer.alloc(MIB)))),
      Status.resourceExhausted,
      /larger, once inflated/,
    ],
  ])("that is %s is refused, and the connection is as good as before", async (_, message, code, reason) => {
    await using server = await startServer({ Echo: echo });
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, encoded("Echo", "gzip"), [frame(message, 1)]);
    expect(answer.headers["grpc-status"]).toBe(String(code));
    expect(decodeURIComponent(String(answer.headers["grpc-message"]))).toMatch(reason);
    const next = await ask(client.session, encoded("Echo", "gzip"), [frame(gzipSync("x"), 1)]);
    expect(next.trailers["grpc-status"]).toBe("0");
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("is put together from pieces first", async () => {
    await using server = await startServer({ Echo: echo });
    await using client = await openHttp2(server.path);
    const pieces = [...frame(gzipSync("in pieces"), 1)].map((byte) => Buffer.from([byte]));
    const answer = await ask(client.session, encoded("Echo", "gzip"), pieces);
    expect(answer.body).toEqual(frame(bytes("in pieces")));
  });

  test("is not inflated for who may not call", async () => {
    await using server = await startServer(
      { Echo: echo },
      {
        authorize: async () => {
          await new Promise<void>((resolve) => setImmediate(resolve));
          throw new GrpcError(Status.unauthenticated, "who are you?");
        },
      },
    );
    await using client = await openHttp2(server.path);
    const answer = await ask(client.session, encoded("Echo", "gzip"), [frame(bomb, 1)]);
    expect(answer.headers["grpc-status"]).toBe(String(Status.unauthenticated));
  });

  test("counts inflated towards what a connection may have incomplete, until its call is over", async () => {
    let waiting = 0;
    const wait = unary(async ({ signal }) => {
      waiting += 1;
      await aborted(signal);
      waiting -= 1;
      throw signal.reason;
    });
    await using server = await startServer({ Wait: wait, Echo: echo }, { maxReceivingBytes: 10 * MIB });
    const message = frame(gzipSync(Buffer.alloc(4 * MIB)), 1);
    await using client = await openHttp2(server.path);
    const calls = Array.from({ length: 20 }, () => client.session.request(encoded("Wait", "gzip")));
    const refused: unknown[] = [];
    for (const call of calls) {
      call.on("error", () => {});
      call.on("response", (headers) => refused.push(headers["grpc-status"]));
      call.end(message);
    }
    await eventually(() => expect(refused).toHaveLength(18));
    expect(waiting).toBe(2);
    expect(new Set(refused)).toEqual(new Set([String(Status.resourceExhausted)]));
    for (const call of calls) call.close();
    await eventually(() => expect(waiting).toBe(0));
    const next = await ask(client.session, encoded("Echo", "gzip"), [message]);
    expect(next.trailers["grpc-status"]).toBe("0");
  });

  test("inflates one message of a connection at a time, and none whose call is over", async () => {
    await using server = await startServer({ Echo: echo });
    await using client = await openHttp2(server.path);
    const message = frame(bomb, 1);
    const calls = Array.from({ length: 200 }, () => client.session.request(encoded("Echo", "gzip")));
    for (const call of calls) {
      call.on("error", () => {});
      call.end(message);
    }
    await eventually(() => expect(server.server.callCount).toBeGreaterThan(0));
    for (const call of calls) call.close();
    await eventually(() => expect(server.server.callCount).toBe(0));
    const next = await ask(client.session, encoded("Echo", "gzip"), [frame(gzipSync("x"), 1)]);
    expect(next.trailers["grpc-status"]).toBe("0");
  });

  test.each(["gzip", "deflate"] as const)("of grpc-js with %s", async (encoding) => {
    await using server = await startServer({ Echo: echo });
    const client = new Client(server.address, credentials.createInsecure(), {
      "grpc.default_compression_algorithm": compressionAlgorithms[encoding],
    });
    try {
      for (const message of ["", "small", "large ".repeat(100_000)]) {
        const answer = await new Promise((resolve, reject) => {
          client.makeUnaryRequest("/t.T/Echo", asIs, asIs, Buffer.from(message), new Metadata(), (error, value) => {
            if (error === null) resolve(text(value));
            else reject(error);
          });
        });
        expect(answer === message).toBe(true);
      }
    } finally {
      client.close();
    }
  });
});
