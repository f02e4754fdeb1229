import http2 from "node:http2";
import { describe, expect, test } from "vitest";
import { GrpcChannel, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, failureOf, openDirectory } from "./fixture.ts";

/** A server of bare node:http2 with windows of 4 MiB, which reads what it is sent and responds to nothing. */
async function startSilent(settings: http2.Settings = {}) {
  const directory = await openDirectory();
  const path = directory.path("s");
  const server = http2.createServer({ settings: { initialWindowSize: 4 << 20, ...settings } });
  const sessions = new Set<http2.ServerHttp2Session>();
  let received = 0;
  let streams = 0;
  server.on("session", (session) => {
    sessions.add(session);
    session.setLocalWindowSize(4 << 20);
  });
  server.on("stream", (stream) => {
    streams += 1;
    stream.on("data", (piece: Buffer) => (received += piece.length));
    stream.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(path, () => resolve()));
  return {
    address: `unix:${path}`,
    received: () => received,
    streams: () => streams,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await directory[Symbol.asyncDispose]();
    },
  };
}

describe("what a client sends to a server that reads and does not respond", () => {
  test("all goes out, large bodies and many calls: the server confirms that it reads", async () => {
    await using server = await startSilent();
    await using channel = new GrpcChannel(server.address);
    const calls = [
      ...Array.from({ length: 3 }, () => failureOf(channel.unary("/t.T/Large", new Uint8Array(1_000_000)))),
      ...Array.from({ length: 1_000 }, () => failureOf(channel.unary("/t.T/Small", new Uint8Array(100)))),
    ];
    await eventually(() => expect(server.received()).toBe(3 * 1_000_005 + 1_000 * 105));
    await channel.close();
    for (const failure of await Promise.all(calls)) expect(failure).toMatchObject({ code: Status.cancelled });
  });

  test("no more calls at once than the server allows: the others wait, and end by their signal and deadline", async () => {
    await using server = await startSilent({ maxConcurrentStreams: 2 });
    await using channel = new GrpcChannel(server.address);
    const running = [1, 2].map(() => failureOf(channel.unary("/t.T/Wait", bytes(""))));
    await eventually(() => expect(server.streams()).toBe(2));
    const controller = new AbortController();
    const aborted = failureOf(channel.unary("/t.T/Wait", bytes(""), { signal: controller.signal }));
    const late = failureOf(channel.unary("/t.T/Wait", bytes(""), { deadlineMs: 20 }));
    expect(await late).toMatchObject({ code: Status.deadlineExceeded });
    controller.abort(new Error("enough"));
    expect(await aborted).toMatchObject({ message: "enough" });
    expect(server.streams()).toBe(2);
    expect(channel.callCount).toBe(2);
    await channel.close();
    await Promise.all(running);
  });
});
