import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, GrpcServer, Status } from "../../src/rpc/index.ts";
import { eventually, RecordingLogger } from "../../src/testing/index.ts";
import {
  bytes,
  byPath,
  echo,
  failureOf,
  openDirectory,
  serverStream,
  startProxy,
  startServer,
  text,
  waiter,
} from "./fixture.ts";

const random = () => 0.5;
const backoff = { initialMs: 100, multiplier: 2, maxMs: 350 };

describe("a channel whose server is not there", () => {
  test("fails calls at once, and tries again on demand after each wait", async () => {
    await using directory = await openDirectory();
    const clock = new ManualClock();
    const states: string[] = [];
    await using channel = new GrpcChannel(`unix:${directory.path("s")}`, {
      clock,
      random,
      backoff,
      onStateChange: (state, reason) => states.push(reason === undefined ? state : `${state} (${reason.slice(0, 14)})`),
    });
    expect(channel.state).toBe("idle");
    const call = () => failureOf(channel.unary("/t.T/Echo", bytes("")));
    for (const waitMs of [100, 200, 350, 350]) {
      expect(await call()).toMatchObject({
        code: Status.unavailable,
        message: expect.stringMatching(/^no connection: connect ENOENT/),
      });
      expect(channel.state).toBe("backoff");
      // No attempt until the wait is over.
      expect(await call()).toMatchObject({ code: Status.unavailable });
      await clock.advance(waitMs - 1);
      expect(channel.state).toBe("backoff");
      await clock.advance(1);
      expect(channel.state).toBe("idle");
    }
    expect(states.slice(0, 4)).toEqual(["connecting", "backoff (connect ENOENT)", "idle", "connecting"]);
    expect(clock.pending).toBe(0);
  });

  test("lets calls wait that want to, through any number of attempts, as long as their deadline and signal allow", async () => {
    await using directory = await openDirectory();
    const clock = new ManualClock();
    const address = `unix:${directory.path("s")}`;
    await using channel = new GrpcChannel(address, { clock, random, backoff, waitForReady: true });
    const controller = new AbortController();
    const patient = channel.unary("/t.T/Echo", bytes("at last"));
    const hurried = failureOf(channel.unary("/t.T/Echo", bytes(""), { deadlineMs: 450 }));
    const stopped = failureOf(channel.unary("/t.T/Echo", bytes(""), { signal: controller.signal }));
    const impatient = failureOf(channel.unary("/t.T/Echo", bytes(""), { waitForReady: false }));
    expect(await impatient).toMatchObject({ code: Status.unavailable });
    controller.abort("enough");
    expect(await stopped).toBe("enough");
    for (const waitMs of [100, 200, 150]) {
      await eventually(() => expect(channel.state).toBe("backoff"));
      await clock.advance(waitMs);
    }
    expect(await hurried).toMatchObject({ code: Status.deadlineExceeded });
    await using server = new GrpcServer({ methods: byPath({ Echo: echo }) });
    await server.listen(address);
    await clock.advance(350);
    expect(text(await patient)).toBe("at last");
    expect(channel.state).toBe("ready");
  });
});

describe("a channel whose server goes away and comes back", () => {
  test("connects again at the next call, without a wait", async () => {
    await using directory = await openDirectory();
    const address = `unix:${directory.path("s")}`;
    const clock = new ManualClock();
    await using channel = new GrpcChannel(address, { clock });
    for (let round = 0; round < 3; round++) {
      await using server = new GrpcServer({ methods: byPath({ Echo: echo }) });
      await server.listen(address);
      expect(text(await channel.unary("/t.T/Echo", bytes(`round ${round}`)))).toBe(`round ${round}`);
      await server.close();
      await eventually(() => expect(channel.state).toBe("idle"));
    }
    expect(clock.pending).toBe(0);
  });

  test("fails calls that are under way with UNAVAILABLE, and sends none of them again", async () => {
    await using directory = await openDirectory();
    const front = `unix:${directory.path("front")}`;
    const { method, running } = waiter();
    await using server = await startServer({ Watch: method, Hang: method, Echo: echo });
    await using proxy = await startProxy(directory.path("front"), server.path);
    await using channel = new GrpcChannel(front);
    await channel.unary("/t.T/Echo", bytes(""));
    const watch = failureOf(channel.serverStream("/t.T/Watch", bytes("")).read());
    const call = failureOf(channel.unary("/t.T/Hang", bytes("")));
    await eventually(() => expect(running()).toBe(2));
    proxy.cut();
    expect(await watch).toMatchObject({ code: Status.unavailable });
    expect(await call).toMatchObject({ code: Status.unavailable });
    await eventually(() => expect(running()).toBe(0));
    expect(text(await channel.unary("/t.T/Echo", bytes("again")))).toBe("again");
    expect(running()).toBe(0);
  });

  test("waits before it tries again when a connection broke before it ever answered", async () => {
    await using directory = await openDirectory();
    const clock = new ManualClock();
    const server = createServer((socket) => {
      // A good beginning, then nothing but the end.
      socket.on("error", () => {});
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      setImmediate(() => socket.once("data", () => setImmediate(() => socket.destroy())));
    });
    await new Promise<void>((resolve) => server.listen(directory.path("s"), () => resolve()));
    const channel = new GrpcChannel(`unix:${directory.path("s")}`, { clock, random, backoff });
    expect(await failureOf(channel.unary("/t.T/Echo", bytes("")))).toMatchObject({ code: Status.unavailable });
    await eventually(() => expect(channel.state).toBe("backoff"));
    await channel.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
});

describe("a channel that was connected once", () => {
  test("begins with the first wait again, however long the last ones were", async () => {
    await using directory = await openDirectory();
    const clock = new ManualClock();
    const address = `unix:${directory.path("s")}`;
    await using channel = new GrpcChannel(address, { clock, random, backoff });
    const failToConnect = async (waitsMs: readonly number[]): Promise<void> => {
      for (const waitMs of waitsMs) {
        await failureOf(channel.unary("/t.T/Echo", bytes("")));
        expect(channel.state).toBe("backoff");
        expect(clock.nextInMs).toBe(waitMs);
        await clock.advance(waitMs);
      }
    };
    for (let round = 0; round < 2; round++) {
      await failToConnect([100, 200, 350]);
      await using server = new GrpcServer({ methods: byPath({ Echo: echo }) });
      await server.listen(address);
      expect(text(await channel.unary("/t.T/Echo", bytes("here")))).toBe("here");
      await server.close();
      await eventually(() => expect(channel.state).toBe("idle"));
    }
    await failToConnect([100]);
  });
});

describe("a connection that is half open", () => {
  test("is found by a ping, on both sides, and calls fail within its bound", async () => {
    await using directory = await openDirectory();
    const clientClock = new ManualClock();
    const serverClock = new ManualClock();
    const logger = new RecordingLogger();
    const { method, running, reasons } = waiter();
    await using server = await startServer(
      { Watch: method, Echo: echo },
      { clock: serverClock, logger, keepaliveMs: 30_000, keepaliveTimeoutMs: 5_000 },
    );
    await using proxy = await startProxy(directory.path("front"), server.path);
    await using channel = new GrpcChannel(`unix:${directory.path("front")}`, {
      clock: clientClock,
      keepaliveMs: 10_000,
      keepaliveTimeoutMs: 2_000,
    });
    const watch = failureOf(channel.serverStream("/t.T/Watch", bytes("")).read());
    await eventually(() => expect(running()).toBe(1));

    // As long as pings are answered, time may pass.
    for (let round = 0; round < 5; round++) {
      await clientClock.advance(10_000);
      await eventually(() => expect(clientClock.nextInMs).toBe(10_000));
      await serverClock.advance(30_000);
      await eventually(() => expect(serverClock.nextInMs).toBe(30_000));
    }
    expect(running()).toBe(1);

    proxy.swallow();
    await clientClock.advance(10_000);
    await clientClock.advance(1_999);
    expect(channel.callCount).toBe(1);
    await clientClock.advance(1);
    expect(await watch).toMatchObject({ code: Status.unavailable, message: "the server answers no ping" });
    await eventually(() => expect(clientClock.pending).toBe(0));

    await serverClock.advance(34_999);
    expect(running()).toBe(1);
    await serverClock.advance(1);
    await eventually(() => expect(running()).toBe(0));
    expect(reasons).toMatchObject([{ code: Status.unavailable }]);
    expect(logger.lines.map(({ message }) => message)).toEqual([
      "A gRPC client answers no ping; its connection is cut",
    ]);
    await eventually(() => expect(server.server.connectionCount).toBe(0));
    expect(serverClock.pending).toBe(0);
  });

  test("is cut even when there is much to write that the client does not read", async () => {
    await using directory = await openDirectory();
    const clock = new ManualClock();
    await using server = await startServer(
      {
        Flood: serverStream(async (call) => {
          for (;;) if (!call.send(new Uint8Array(10_000))) await call.drained();
        }),
      },
      { clock, keepaliveMs: 30_000, keepaliveTimeoutMs: 5_000 },
    );
    await using proxy = await startProxy(directory.path("front"), server.path);
    await using channel = new GrpcChannel(`unix:${directory.path("front")}`);
    const floods = Array.from({ length: 10 }, () => channel.serverStream("/t.T/Flood", bytes("")));
    for (const flood of floods) await flood.read();
    proxy.stall();
    await clock.advance(30_000);
    await clock.advance(30_000);
    await eventually(() => expect(server.server.callCount).toBe(0));
    await eventually(() => expect(server.server.connectionCount).toBe(0));
    proxy.cut();
    for (const flood of floods) {
      expect(
        await failureOf(
          (async () => {
            while ((await flood.read()) !== undefined);
          })(),
        ),
      ).toMatchObject({ code: Status.unavailable });
    }
  });

  test("is not pinged while there is no call, nor while the server is heard", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ Echo: echo });
    await using channel = new GrpcChannel(server.address, { clock, keepaliveMs: 10_000, keepaliveTimeoutMs: 2_000 });
    await channel.unary("/t.T/Echo", bytes(""));
    for (let round = 0; round < 3; round++) {
      await clock.advance(10_000);
      // Not 2,000, as it would be with a ping on its way.
      expect(clock.nextInMs).toBe(10_000);
    }
    expect(channel.state).toBe("ready");
  });
});
