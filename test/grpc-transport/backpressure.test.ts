import http2 from "node:http2";
import { describe, expect, test } from "vitest";
import { FramedMessages, GrpcChannel, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, failureOf, grpcHeaders, frame, openHttp2, serverStream, startServer } from "./fixture.ts";

/** Waits until a count stands still. */
async function settled(count: () => number): Promise<number> {
  let before = -1;
  await eventually(
    () => {
      const now = count();
      const same = now === before;
      before = now;
      expect(same).toBe(true);
    },
    { intervalMs: 50 },
  );
  return before;
}

describe("a client that does not read", () => {
  test("stops its handler after what windows and buffers hold, and gets the rest when it reads again", async () => {
    let sent = 0;
    await using server = await startServer({
      Flood: serverStream(async (call) => {
        while (sent < 20_000) {
          sent += 1;
          if (!call.send(new Uint8Array(1_000).fill(sent & 255))) await call.drained();
        }
      }),
    });
    await using client = await openHttp2(server.path);
    const stream = client.session.request(grpcHeaders("Flood"), { endStream: false });
    stream.end(frame(bytes("")));
    await new Promise<void>((resolve) => stream.once("response", () => resolve()));
    // The window of the stream is 64 kB here; one piece is under way, another may wait.
    const held = await settled(() => sent);
    expect(held).toBeLessThan(400);
    let read = 0;
    stream.on("data", (piece: Buffer) => (read += piece.length));
    await new Promise<void>((resolve) => stream.once("end", () => resolve()));
    expect(sent).toBe(20_000);
    expect(read).toBe(20_000 * 1_005);
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("is ours: its buffer is bounded, and its other calls go on", async () => {
    let sent = 0;
    await using server = await startServer({
      Flood: serverStream(async (call) => {
        for (;;) {
          sent += 1;
          if (!call.send(new Uint8Array(10_000))) await call.drained();
        }
      }),
      Once: serverStream((call) => void call.send(call.message)),
    });
    await using channel = new GrpcChannel(server.address);
    await using flood = channel.serverStream("/t.T/Flood", bytes(""));
    const held = (await settled(() => sent)) * 10_000;
    // What was read ahead, the window of a stream, and what the server holds.
    expect(held).toBeLessThan(2_500_000);
    for (let count = 0; count < 10; count++) {
      expect(await channel.serverStream("/t.T/Once", new Uint8Array(500_000)).read()).toHaveLength(1);
    }
    // Reading lets more come.
    let read = 0;
    while (read < held + 1_000_000) for (const message of (await flood.read()) ?? []) read += message.length;
    expect(sent * 10_000).toBeGreaterThan(held + 1_000_000);
  });

  test("costs a handler that does not wait its call, before it costs memory", async () => {
    const thrown: unknown[] = [];
    await using server = await startServer(
      {
        Careless: serverStream(async (call) => {
          try {
            for (;;) {
              call.send(new Uint8Array(10_000));
              await new Promise<void>((resolve) => setImmediate(resolve));
            }
          } catch (error) {
            thrown.push(error);
            throw error;
          }
        }),
      },
      { maxQueuedBytes: 300_000 },
    );
    await using client = await openHttp2(server.path);
    const stream = client.session.request(grpcHeaders("Careless"), { endStream: false });
    stream.end(frame(bytes("")));
    await eventually(() => expect(thrown).toMatchObject([{ code: Status.resourceExhausted }]));
    // What was sent before is delivered, then the status.
    const trailers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once("trailers", resolve));
    stream.resume();
    expect((await trailers)["grpc-status"]).toBe(String(Status.resourceExhausted));
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("and has a deadline is not waited for beyond it", async () => {
    const reasons: unknown[] = [];
    await using server = await startServer({
      Flood: serverStream(async (call) => {
        try {
          for (;;) if (!call.send(new Uint8Array(10_000))) await call.drained();
        } catch (error) {
          reasons.push(error);
          throw error;
        }
      }),
    });
    await using client = await openHttp2(server.path);
    const stream = client.session.request({ ...grpcHeaders("Flood"), "grpc-timeout": "100m" }, { endStream: false });
    stream.on("error", () => {});
    stream.end(frame(bytes("")));
    await eventually(() => expect(reasons).toMatchObject([{ code: Status.deadlineExceeded }]));
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("and goes away lets go of everything", async () => {
    await using server = await startServer({
      Flood: serverStream(async (call) => {
        for (;;) if (!call.send(new Uint8Array(10_000))) await call.drained();
      }),
    });
    for (const how of ["reset", "connection"]) {
      await using client = await openHttp2(server.path);
      const streams = Array.from({ length: 50 }, () => {
        const stream = client.session.request(grpcHeaders("Flood"), { endStream: false });
        stream.on("error", () => {});
        stream.end(frame(bytes("")));
        return stream;
      });
      await eventually(() => expect(server.server.callCount).toBe(50));
      if (how === "reset") for (const stream of streams) stream.close(http2.constants.NGHTTP2_CANCEL);
      else client.session.destroy();
      await eventually(() => expect(server.server.callCount).toBe(0));
    }
  });
});

describe("under load", () => {
  test("no wake-up is lost: many long streams with readers that stop and go all come to their end", async () => {
    const shared = new FramedMessages(Array.from({ length: 20 }, (_, index) => bytes(`shared ${index}`)));
    await using server = await startServer({
      Long: serverStream(async (call) => {
        const seed = call.message[0] ?? 0;
        for (let index = 0; index < 1_500; index++) {
          const message = index % 7 === seed % 7 ? shared : new Uint8Array(((index * 37 + seed * 101) % 900) + 1);
          if (!call.send(message)) await call.drained();
          if ((index + seed) % 97 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        }
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const read = async (seed: number): Promise<number> => {
      let count = 0;
      let lots = 0;
      const stream = channel.serverStream("/t.T/Long", new Uint8Array([seed]));
      for (let lot = await stream.read(); lot !== undefined; lot = await stream.read()) {
        count += lot.length;
        if (++lots % 5 === seed % 5) await new Promise<void>((resolve) => setImmediate(resolve));
      }
      return count;
    };
    for (let round = 0; round < 3; round++) {
      const counts = await Promise.all(Array.from({ length: 60 }, (_, seed) => read(seed)));
      counts.forEach((count, seed) => {
        const lots = Array.from({ length: 1_500 }).filter((_, index) => index % 7 === seed % 7).length;
        expect(count).toBe(1_500 - lots + 20 * lots);
      });
    }
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("a call among many streams is answered", async () => {
    await using server = await startServer({
      Flood: serverStream(async (call) => {
        for (;;) if (!call.send(new Uint8Array(1_000))) await call.drained();
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const floods = Array.from({ length: 20 }, () => channel.serverStream("/t.T/Flood", bytes("")));
    let reading = true;
    const readers = floods.map(async (flood) => {
      while (reading) await flood.read();
      flood.cancel();
    });
    for (let count = 0; count < 20; count++) {
      expect(await failureOf(channel.unary("/t.T/None", bytes("")))).toMatchObject({ code: Status.unimplemented });
    }
    reading = false;
    await Promise.all(readers);
  });
});

test("calls that are cancelled while much of their response waits leave room for a thousand more", async () => {
  await using server = await startServer({
    Flood: serverStream(async (call) => {
      for (;;) if (!call.send(new Uint8Array(100_000))) await call.drained();
    }),
    Once: serverStream((call) => void call.send(call.message)),
  });
  await using channel = new GrpcChannel(server.address);
  // Node counts up to a piece for each, and never forgets: its usual 64 MB are reached after about 650.
  for (let i = 0; i < 1_300; i++) {
    const stream = channel.serverStream("/t.T/Flood", bytes(""));
    await stream.read();
    stream.cancel();
  }
  await using once = channel.serverStream("/t.T/Once", bytes("still here"));
  expect((await once.read())?.map((message) => Buffer.from(message).toString())).toEqual(["still here"]);
  await eventually(() => expect(server.server.callCount).toBeLessThan(2));
});
