import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, GrpcError, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { aborted, bytes, echo, failureOf, serverStream, startServer, unary, waiter } from "./fixture.ts";

describe("what calls leave behind", () => {
  test("10,000 watches opened and cancelled: no call, handler, timer or listener", async () => {
    const clientClock = new ManualClock();
    const serverClock = new ManualClock();
    const { method, running, reasons } = waiter();
    await using server = await startServer({ Watch: method, Echo: echo }, { clock: serverClock });
    const channel = new GrpcChannel(server.address, { clock: clientClock });
    await channel.unary("/t.T/Echo", bytes(""));
    const stop = new AbortController();
    for (let lot = 0; lot < 10; lot++) {
      const watches = Array.from({ length: 1_000 }, (_, index) =>
        channel.serverStream("/t.T/Watch", bytes(""), {
          signal: stop.signal,
          deadlineMs: index % 2 === 0 ? 3_600_000 : undefined,
        }),
      );
      // Each other lot is cancelled while it is still on its way.
      const expected = lot % 2 === 0 ? 1_000 : 0;
      await eventually(() => expect(running()).toBeGreaterThanOrEqual(expected));
      for (const watch of watches) watch.cancel();
      expect(channel.callCount).toBe(0);
      expect(getEventListeners(stop.signal, "abort")).toEqual([]);
      await eventually(() => expect(server.server.callCount).toBe(0));
      expect(running()).toBe(0);
    }
    expect(reasons.length).toBeGreaterThanOrEqual(5_000);
    expect(new Set(reasons.map((reason) => (reason as GrpcError).code))).toEqual(new Set([Status.cancelled]));
    // The same connection, and nothing but its ping to come.
    expect(server.server.connectionCount).toBe(1);
    expect(serverClock.pending).toBe(1);
    expect(clientClock.pending).toBe(1);
    expect(channel.state).toBe("ready");
    await channel.unary("/t.T/Echo", bytes(""));
    await channel.close();
    await server.server.close();
    expect(serverClock.pending).toBe(0);
    expect(clientClock.pending).toBe(0);
  });

  test("10,000 watches open at once, on one connection, and calls beside them", { timeout: 120_000 }, async () => {
    const { method, running } = waiter();
    await using server = await startServer({ Watch: method, Echo: echo }, { maxConcurrentCalls: 11_000 });
    await using channel = new GrpcChannel(server.address);
    const watches = Array.from({ length: 10_000 }, () => channel.serverStream("/t.T/Watch", bytes("")));
    await eventually(() => expect(running()).toBe(10_000), { timeoutMs: 60_000 });
    for (let count = 0; count < 20; count++) expect(await channel.unary("/t.T/Echo", bytes("x"))).toHaveLength(1);
    for (const watch of watches) watch.cancel();
    await eventually(() => expect(running()).toBe(0), { timeoutMs: 60_000 });
    expect(server.server.connectionCount).toBe(1);
    await eventually(() => expect(server.server.callCount).toBe(0), { timeoutMs: 60_000 });
  });

  test("calls that end in any other way leave nothing either", async () => {
    const clock = new ManualClock();
    await using server = await startServer(
      {
        Echo: echo,
        Fail: unary(() => {
          throw new GrpcError(Status.notFound, "x");
        }),
        Hang: unary(async ({ signal }) => {
          await aborted(signal);
          throw signal.reason;
        }),
        Few: serverStream((call) => void call.send([bytes("a"), bytes("b")])),
      },
      { clock, maxReceivedMessageBytes: 100 },
    );
    await using channel = new GrpcChannel(server.address, { clock });
    const stop = new AbortController();
    const options = { signal: stop.signal, deadlineMs: 60_000 };
    for (let round = 0; round < 200; round++) {
      await channel.unary("/t.T/Echo", bytes("x"), options);
      expect(await failureOf(channel.unary("/t.T/Fail", bytes("x"), options))).toMatchObject({ code: Status.notFound });
      expect(await failureOf(channel.unary("/t.T/None", bytes("x"), options))).toMatchObject({
        code: Status.unimplemented,
      });
      expect(await failureOf(channel.unary("/t.T/Echo", new Uint8Array(200), options))).toMatchObject({
        code: Status.resourceExhausted,
      });
      for await (const message of channel.serverStream("/t.T/Few", bytes("x"), options))
        expect(message).toHaveLength(1);
      const own = new AbortController();
      const hanging = failureOf(channel.unary("/t.T/Hang", bytes("x"), { ...options, signal: own.signal }));
      own.abort("enough");
      expect(await hanging).toBe("enough");
      expect(getEventListeners(own.signal, "abort")).toEqual([]);
    }
    await eventually(() => expect(server.server.callCount).toBe(0));
    expect(channel.callCount).toBe(0);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    // One ping to come on each side.
    expect(clock.pending).toBe(2);
  });

  test("connections opened and closed leave nothing", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ Echo: echo }, { clock });
    for (let round = 0; round < 200; round++) {
      await using channel = new GrpcChannel(server.address, { clock });
      await channel.unary("/t.T/Echo", bytes("x"));
    }
    await eventually(() => expect(server.server.connectionCount).toBe(0));
    expect(clock.pending).toBe(0);
  });
});
