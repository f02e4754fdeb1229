import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { aborted, bytes, echo, failureOf, serverStream, startServer, text, unary, waiter } from "./fixture.ts";

describe("a server that shuts down", () => {
  test("ends streams with UNAVAILABLE at once, their handlers told first, and lets unary calls finish", async () => {
    const order: string[] = [];
    const finish = Promise.withResolvers<void>();
    await using server = await startServer({
      Watch: serverStream(async (call) => {
        call.send(bytes("here"));
        await aborted(call.signal);
        order.push(`told ${(call.signal.reason as Error).message}`);
      }),
      Slow: unary(async (call) => {
        await finish.promise;
        order.push(`finished, aborted ${call.signal.aborted}`);
        return call.message;
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const watch = channel.serverStream("/t.T/Watch", bytes(""));
    expect((await watch.read())?.map(text)).toEqual(["here"]);
    const slow = channel.unary("/t.T/Slow", bytes("done"));
    await eventually(() => expect(server.server.callCount).toBe(2));

    const closing = server.server.close({ graceMs: 60_000 });
    expect(await failureOf(watch.read())).toMatchObject({
      code: Status.unavailable,
      message: "the server is shutting down",
    });
    expect(order).toEqual(["told the server is shutting down"]);
    // It takes nothing new.
    expect(await failureOf(channel.unary("/t.T/Slow", bytes("")))).toMatchObject({ code: Status.unavailable });
    finish.resolve();
    expect(text(await slow)).toBe("done");
    await closing;
    expect(order[1]).toBe("finished, aborted false");
    expect(server.server.callCount).toBe(0);
    expect(server.server.connectionCount).toBe(0);
  });

  test("does with each method as it says: a stream may finish, a unary call may be ended", async () => {
    const finish = Promise.withResolvers<void>();
    await using server = await startServer({
      List: {
        kind: "serverStream",
        onShutdown: "finish",
        handler: async (call) => {
          call.send(bytes("a"));
          await finish.promise;
          call.send(bytes("b"));
        },
      },
      Wait: {
        kind: "unary",
        onShutdown: "cancel",
        handler: async (call) => {
          await aborted(call.signal);
          throw call.signal.reason;
        },
      },
    });
    await using channel = new GrpcChannel(server.address);
    const list = channel.serverStream("/t.T/List", bytes(""));
    expect((await list.read())?.map(text)).toEqual(["a"]);
    const wait = failureOf(channel.unary("/t.T/Wait", bytes("")));
    await eventually(() => expect(server.server.callCount).toBe(2));
    const closing = server.server.close({ graceMs: 60_000 });
    expect(await wait).toMatchObject({ code: Status.unavailable });
    finish.resolve();
    expect((await list.read())?.map(text)).toEqual(["b"]);
    expect(await list.read()).toBeUndefined();
    await closing;
  });

  test("ends what is left after the grace time, and does not wait for handlers that do not listen", async () => {
    const clock = new ManualClock();
    const stuck = Promise.withResolvers<void>();
    await using server = await startServer(
      {
        Stuck: unary(async (call) => {
          await stuck.promise;
          return call.message;
        }),
      },
      { clock },
    );
    await using channel = new GrpcChannel(server.address);
    const call = failureOf(channel.unary("/t.T/Stuck", bytes("")));
    await eventually(() => expect(server.server.callCount).toBe(1));
    let closed = false;
    const closing = server.server.close({ graceMs: 5_000 }).then(() => (closed = true));
    await clock.advance(4_999);
    expect(closed).toBe(false);
    await clock.advance(1);
    expect(await call).toMatchObject({ code: Status.unavailable, message: "the server is shutting down" });
    expect(closed).toBe(false);
    await clock.advance(500);
    await closing;
    expect(server.server.callCount).toBe(1);
    stuck.resolve();
    await eventually(() => expect(server.server.callCount).toBe(0));
    expect(server.server.connectionCount).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test("cuts clients that do not read what it sends last, and those that say nothing", async () => {
    const clock = new ManualClock();
    await using server = await startServer(
      {
        Flood: serverStream(async (call) => {
          for (;;) if (!call.send(new Uint8Array(10_000))) await call.drained();
        }),
      },
      { clock },
    );
    await using channel = new GrpcChannel(server.address);
    const flood = channel.serverStream("/t.T/Flood", bytes(""));
    await flood.read();
    const silent = connect(server.path);
    const silentClosed = new Promise<void>((resolve) => silent.once("close", () => resolve()));
    await eventually(() => expect(server.server.connectionCount).toBe(2));
    const closing = server.server.close({ graceMs: 1_000 });
    for (let waited = 0; waited < 1_600; waited += 100) await clock.advance(100);
    await closing;
    silent.resume();
    await silentClosed;
    expect(server.server.connectionCount).toBe(0);
    expect(
      await failureOf(
        (async () => {
          while ((await flood.read()) !== undefined);
        })(),
      ),
    ).toMatchObject({ code: Status.unavailable });
    expect(clock.pending).toBe(0);
  });

  test("with nothing to do is closed without a wait", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ Echo: echo }, { clock });
    await using channel = new GrpcChannel(server.address);
    await channel.unary("/t.T/Echo", bytes(""));
    await server.server.close();
    expect(channel.state).toBe("idle");
    expect(clock.pending).toBe(0);
  });
});

describe("a channel that is closed", () => {
  test("ends its calls with CANCELLED, tells the server, and makes no more", async () => {
    const { method, running } = waiter();
    await using server = await startServer({ Watch: method, Echo: echo });
    const channel = new GrpcChannel(server.address);
    const watch = failureOf(channel.serverStream("/t.T/Watch", bytes("")).read());
    await eventually(() => expect(running()).toBe(1));
    const closing = channel.close();
    expect(channel.close()).toBe(closing);
    expect(await watch).toMatchObject({ code: Status.cancelled, message: "the channel is closed" });
    await closing;
    await eventually(() => expect(running()).toBe(0));
    await eventually(() => expect(server.server.connectionCount).toBe(0));
    expect(channel.state).toBe("closed");
    expect(await failureOf(channel.unary("/t.T/Echo", bytes("")))).toMatchObject({ code: Status.cancelled });
    expect(channel.callCount).toBe(0);
  });

  test("while it connects, or waits to, is closed at once", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ Echo: echo });
    const connecting = new GrpcChannel(server.address, { clock });
    const first = failureOf(connecting.unary("/t.T/Echo", bytes("")));
    expect(connecting.state).toBe("connecting");
    await connecting.close();
    expect(await first).toMatchObject({ code: Status.cancelled });

    const waiting = new GrpcChannel(`${server.address}.not`, { clock });
    const second = failureOf(waiting.unary("/t.T/Echo", bytes(""), { waitForReady: true }));
    await eventually(() => expect(waiting.state).toBe("backoff"));
    await waiting.close();
    expect(await second).toMatchObject({ code: Status.cancelled });
    expect(clock.pending).toBe(0);
  });
});
