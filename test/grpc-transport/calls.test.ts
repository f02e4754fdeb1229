import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { FramedMessages, GrpcChannel, GrpcError, Metadata, Status } from "../../src/rpc/index.ts";
import { eventually, RecordingLogger } from "../../src/testing/index.ts";
import { aborted, bytes, echo, failureOf, serverStream, startServer, text, unary, waiter } from "./fixture.ts";

describe("a unary call", () => {
  test("moves a message of any size each way", async () => {
    await using server = await startServer({ Echo: echo });
    await using channel = new GrpcChannel(server.address);
    for (const size of [0, 1, 16_379, 16_384, 100_000, 4 * 1024 * 1024]) {
      const message = new Uint8Array(size).fill(7);
      const answer = await channel.unary("/t.T/Echo", message);
      expect(Buffer.compare(answer, message)).toBe(0);
    }
  });

  test("many at once, on one connection, each get their own answer", async () => {
    await using server = await startServer({
      Echo: unary(async (call) => {
        await new Promise<void>((resolve) => setImmediate(resolve));
        return call.message;
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const answers = await Promise.all(
      Array.from({ length: 2000 }, (_, index) => channel.unary("/t.T/Echo", bytes(`m${index}`))),
    );
    expect(answers.map(text)).toEqual(Array.from({ length: 2000 }, (_, index) => `m${index}`));
    expect(server.server.connectionCount).toBe(1);
    expect(channel.callCount).toBe(0);
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("carries metadata, text and bytes, of the channel and of the call", async () => {
    await using server = await startServer({
      Show: unary(({ metadata }) =>
        bytes(
          JSON.stringify([
            metadata.get("authorization"),
            metadata.get("node"),
            metadata.getBytes("trace-bin").map((one) => [...one]),
          ]),
        ),
      ),
    });
    let token = 0;
    await using channel = new GrpcChannel(server.address, {
      metadata: () => ({ authorization: `Bearer ${++token}`, node: "channel" }),
    });
    const options = { metadata: { node: ["a", "b"], "trace-bin": [new Uint8Array([0, 255]), new Uint8Array([1])] } };
    expect(JSON.parse(text(await channel.unary("/t.T/Show", bytes(""), options)))).toEqual([
      "Bearer 1",
      "a, b",
      [[0, 255], [1]],
    ]);
    expect(JSON.parse(text(await channel.unary("/t.T/Show", bytes(""))))).toEqual(["Bearer 2", "channel", []]);
  });

  test("fails with the status, text, details and trailers of the handler's error", async () => {
    await using server = await startServer({
      Fail: unary(() => {
        throw new GrpcError(Status.failedPrecondition, "Größe 100% – 漢字 😀\nend", {
          details: new Uint8Array([8, 9, 18, 1, 120]),
          metadata: Metadata.of({ reason: "busy", "proof-bin": new Uint8Array([1, 2]) }),
        });
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const error = await failureOf(channel.unary("/t.T/Fail", bytes("")));
    expect(error).toBeInstanceOf(GrpcError);
    expect(error).toMatchObject({ code: Status.failedPrecondition, message: "Größe 100% – 漢字 😀\\nend" });
    if (!(error instanceof GrpcError)) return;
    expect([...error.details]).toEqual([8, 9, 18, 1, 120]);
    expect(error.metadata.get("reason")).toBe("busy");
    expect(error.metadata.getBytes("proof-bin").map((one) => [...one])).toEqual([[1, 2]]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("kaput");
      },
    ],
    ["rejects", () => Promise.reject(new Error("kaput"))],
  ])("is UNKNOWN when its handler %s something else, which is logged", async (_, handler) => {
    const logger = new RecordingLogger();
    await using server = await startServer({ Fail: unary(handler), Echo: echo }, { logger });
    await using channel = new GrpcChannel(server.address);
    await expect(channel.unary("/t.T/Fail", bytes(""))).rejects.toMatchObject({
      code: Status.unknown,
      message: "kaput",
    });
    expect(logger.lines).toMatchObject([
      { level: "error", fields: { method: "/t.T/Fail", error: { message: "kaput" } } },
    ]);
    expect(text(await channel.unary("/t.T/Echo", bytes("still here")))).toBe("still here");
  });

  test("is UNKNOWN when its handler gives no bytes", async () => {
    const logger = new RecordingLogger();
    // @ts-expect-error A handler without types.
    await using server = await startServer({ Fail: unary(() => "text") }, { logger });
    await using channel = new GrpcChannel(server.address);
    await expect(channel.unary("/t.T/Fail", bytes(""))).rejects.toMatchObject({ code: Status.unknown });
    expect(logger.lines).toHaveLength(1);
  });

  test("sends the trailers that its handler set, with an error as well", async () => {
    await using server = await startServer({
      Fail: unary((call) => {
        call.setTrailers({ cost: "3" });
        throw new GrpcError(Status.aborted, "");
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const error = await failureOf(channel.unary("/t.T/Fail", bytes("")));
    expect(error).toMatchObject({
      code: Status.aborted,
      message: "the server gave the status ABORTED without a message",
    });
    expect(error instanceof GrpcError && error.metadata.get("cost")).toBe("3");
  });

  test("of an unknown method is UNIMPLEMENTED", async () => {
    await using server = await startServer({ Echo: echo });
    await using channel = new GrpcChannel(server.address);
    for (const path of ["/t.T/Nothing", "/t.T/__proto__", "/t.T/echo"]) {
      await expect(channel.unary(path, bytes(""))).rejects.toMatchObject({
        code: Status.unimplemented,
        message: `there is no method ${path}`,
      });
    }
  });
});

describe("a server stream", () => {
  const count = serverStream(async (call) => {
    const total = Number(text(call.message));
    for (let index = 0; index < total; index++) if (!call.send(bytes(`m${index}`))) await call.drained();
  });

  test("delivers its messages in order, one by one or in lots", async () => {
    await using server = await startServer({ Count: count });
    await using channel = new GrpcChannel(server.address);
    const expected = Array.from({ length: 50_000 }, (_, index) => `m${index}`);
    const single: string[] = [];
    for await (const message of channel.serverStream("/t.T/Count", bytes("50000"))) single.push(text(message));
    expect(single).toEqual(expected);
    const lots: string[] = [];
    const stream = channel.serverStream("/t.T/Count", bytes("50000"));
    for (let lot = await stream.read(); lot !== undefined; lot = await stream.read()) lots.push(...lot.map(text));
    expect(lots).toEqual(expected);
    expect(await stream.read()).toBeUndefined();
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("may be empty", async () => {
    await using server = await startServer({ Count: count });
    await using channel = new GrpcChannel(server.address);
    expect(await channel.serverStream("/t.T/Count", bytes("0")).read()).toBeUndefined();
  });

  test("delivers messages that are framed once for many, and large ones, between others", async () => {
    const shared = new FramedMessages([bytes("a"), bytes("b")]);
    const large = new Uint8Array(1_000_000).fill(3);
    await using server = await startServer({
      Mixed: serverStream(async (call) => {
        call.send(shared);
        await call.drained();
        call.send([bytes("c"), shared, large, bytes("d")]);
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const seen: string[] = [];
    for await (const message of channel.serverStream("/t.T/Mixed", bytes(""))) {
      seen.push(message.length > 10 ? `${message.length}` : text(message));
    }
    expect(seen).toEqual(["a", "b", "c", "a", "b", "1000000", "d"]);
  });

  test("fails after its messages when its handler fails after them", async () => {
    await using server = await startServer({
      Fail: serverStream((call) => {
        call.send([bytes("a"), bytes("b")]);
        throw new GrpcError(Status.dataLoss, "gone");
      }),
      FailAtOnce: serverStream(() => {
        throw new GrpcError(Status.notFound, "nothing");
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const stream = channel.serverStream("/t.T/FailAtOnce", bytes(""));
    await expect(stream.read()).rejects.toMatchObject({ code: Status.notFound, message: "nothing" });
    await expect(stream.read()).rejects.toMatchObject({ code: Status.notFound });
    const late = channel.serverStream("/t.T/Fail", bytes(""));
    expect((await late.read())?.map(text)).toEqual(["a", "b"]);
    await expect(late.read()).rejects.toMatchObject({ code: Status.dataLoss });
  });

  test("has one reader at a time", async () => {
    const { method } = waiter();
    await using server = await startServer({ Wait: method });
    await using channel = new GrpcChannel(server.address);
    await using stream = channel.serverStream("/t.T/Wait", bytes(""));
    const first = stream.read();
    await expect(stream.read()).rejects.toThrow("being read already");
    stream.cancel();
    expect(await first).toBeUndefined();
  });

  test.each(["leaving the loop", "disposing it", "cancel", "its signal"])(
    "tells its handler within a turn or two when it is ended by %s",
    async (how) => {
      const reasons: unknown[] = [];
      await using server = await startServer({
        Endless: serverStream(async (call) => {
          call.send(bytes("first"));
          await aborted(call.signal);
          reasons.push(call.signal.reason);
        }),
      });
      await using channel = new GrpcChannel(server.address);
      const controller = new AbortController();
      const stream = channel.serverStream("/t.T/Endless", bytes(""), { signal: controller.signal });
      const reason = new Error("enough");
      for await (const message of stream) {
        expect(text(message)).toBe("first");
        if (how === "leaving the loop") break;
        if (how === "disposing it") await stream[Symbol.asyncDispose]();
        if (how === "cancel") stream.cancel();
        if (how !== "its signal") continue;
        controller.abort(reason);
        await expect(stream.read()).rejects.toBe(reason);
        break;
      }
      await eventually(() => expect(server.server.callCount).toBe(0));
      expect(reasons).toMatchObject([{ code: Status.cancelled }]);
      expect(channel.callCount).toBe(0);
    },
  );
});

describe("cancelling and deadlines", () => {
  test("a call that is aborted rejects with the signal's own reason, and its handler is told", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    await using server = await startServer({
      Hang: unary(async ({ signal }) => {
        await aborted(signal);
        resolve(signal.reason);
        throw signal.reason;
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const controller = new AbortController();
    const answer = channel.unary("/t.T/Hang", bytes(""), { signal: controller.signal });
    await eventually(() => expect(server.server.callCount).toBe(1));
    controller.abort("enough");
    await expect(answer).rejects.toBe("enough");
    expect(await promise).toMatchObject({ code: Status.cancelled });
  });

  test("a call with an aborted signal is not sent", async () => {
    await using server = await startServer({ Echo: echo });
    await using channel = new GrpcChannel(server.address);
    const reason = new Error("before");
    const options = { signal: AbortSignal.abort(reason) };
    await expect(channel.unary("/t.T/Echo", bytes(""), options)).rejects.toBe(reason);
    await expect(channel.serverStream("/t.T/Echo", bytes(""), options).read()).rejects.toBe(reason);
    expect(server.server.connectionCount).toBe(0);
  });

  test("a deadline ends the call on the client, and its handler on the server", async () => {
    const clientClock = new ManualClock();
    const serverClock = new ManualClock();
    const remaining: (number | undefined)[] = [];
    const reasons: unknown[] = [];
    await using server = await startServer(
      {
        Hang: unary(async (call) => {
          remaining.push(call.remainingMs);
          await aborted(call.signal);
          reasons.push(call.signal.reason, call.remainingMs);
          throw call.signal.reason;
        }),
      },
      { clock: serverClock },
    );
    await using channel = new GrpcChannel(server.address, { clock: clientClock });
    const first = channel.unary("/t.T/Hang", bytes(""), { deadlineMs: 5_000 });
    await eventually(() => expect(remaining).toEqual([5_000]));
    // The server's deadline comes first: its status is what the client gets.
    const firstFailure = failureOf(first);
    await serverClock.advance(5_000);
    expect(await firstFailure).toMatchObject({
      code: Status.deadlineExceeded,
      message: "the deadline has passed",
    });
    expect(reasons).toMatchObject([{ code: Status.deadlineExceeded }, 0]);

    const second = channel.unary("/t.T/Hang", bytes(""), { deadlineMs: 5_000 });
    await eventually(() => expect(remaining).toHaveLength(2));
    const secondFailure = failureOf(second);
    await clientClock.advance(5_000);
    expect(await secondFailure).toMatchObject({
      code: Status.deadlineExceeded,
      message: "no answer from /t.T/Hang within the deadline",
    });
    await eventually(() => expect(reasons[2]).toMatchObject({ code: Status.cancelled }));
  });

  test("a deadline of nothing fails, and no deadline is none", async () => {
    await using server = await startServer({ Echo: unary((call) => bytes(String(call.remainingMs))) });
    await using channel = new GrpcChannel(server.address);
    await expect(channel.unary("/t.T/Echo", bytes(""), { deadlineMs: 0 })).rejects.toMatchObject({
      code: Status.deadlineExceeded,
    });
    expect(text(await channel.unary("/t.T/Echo", bytes(""), { deadlineMs: Infinity }))).toBe("undefined");
    await expect(channel.unary("/t.T/Echo", bytes(""), { deadlineMs: -1 })).rejects.toThrow(RangeError);
    expect(() => channel.serverStream("/t.T/Echo", bytes(""), { deadlineMs: Number.NaN })).toThrow(RangeError);
  });

  test("a handler that answers too late, or fails after it was told to stop, harms nobody", async () => {
    const logger = new RecordingLogger();
    const late: (() => void)[] = [];
    await using server = await startServer(
      {
        Late: unary(async (call) => {
          await new Promise<void>((resolve) => late.push(resolve));
          return call.message;
        }),
        Stops: unary(async ({ signal }) => {
          await aborted(signal);
          throw signal.reason;
        }),
        Fails: unary(async ({ signal }) => {
          await aborted(signal);
          throw new Error("while stopping");
        }),
        Sends: serverStream(async (call) => {
          await aborted(call.signal);
          expect(call.send(bytes("x"))).toBe(false);
          await call.drained();
        }),
      },
      { logger },
    );
    await using channel = new GrpcChannel(server.address);
    for (const name of ["Late", "Stops", "Fails", "Sends"]) {
      const controller = new AbortController();
      const answer = channel.unary(`/t.T/${name}`, bytes(""), { signal: controller.signal });
      await eventually(() => expect(server.server.callCount).toBe(1));
      controller.abort();
      await expect(answer).rejects.toThrow("aborted");
      await eventually(() => {
        for (const answerLate of late.splice(0)) answerLate();
        expect(server.server.callCount).toBe(0);
      });
    }
    expect(logger.lines.map(({ level, fields }) => [level, fields["method"]])).toEqual([["error", "/t.T/Fails"]]);
  });
});

describe("bounds", () => {
  test("a message above the limit is refused by whoever receives it", async () => {
    await using server = await startServer(
      { Echo: echo, Large: unary(() => new Uint8Array(2000)) },
      { maxReceivedMessageBytes: 1000 },
    );
    await using channel = new GrpcChannel(server.address, { maxReceivedMessageBytes: 1500 });
    await expect(channel.unary("/t.T/Echo", new Uint8Array(1001))).rejects.toMatchObject({
      code: Status.resourceExhausted,
      message: "a message of 1001 bytes is larger than the 1000 that are accepted",
    });
    expect(await channel.unary("/t.T/Echo", new Uint8Array(1000))).toHaveLength(1000);
    await expect(channel.unary("/t.T/Large", new Uint8Array(0))).rejects.toMatchObject({
      code: Status.resourceExhausted,
      message: "a message of 2000 bytes is larger than the 1500 that are accepted",
    });
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("a message above the server's limit is not sent", async () => {
    await using server = await startServer(
      { Large: unary(() => new Uint8Array(2000)), Many: serverStream((call) => void call.send(new Uint8Array(2000))) },
      { maxSentMessageBytes: 1000 },
    );
    await using channel = new GrpcChannel(server.address);
    const expected = { code: Status.resourceExhausted, message: expect.stringContaining("larger than the 1000") };
    await expect(channel.unary("/t.T/Large", bytes(""))).rejects.toMatchObject(expected);
    await expect(channel.serverStream("/t.T/Many", bytes("")).read()).rejects.toMatchObject(expected);
  });

  test("calls of a connection wait for each other above the number that may run", async () => {
    let most = 0;
    let running = 0;
    await using server = await startServer(
      {
        Slow: unary(async (call) => {
          most = Math.max(most, ++running);
          await new Promise<void>((resolve) => setImmediate(resolve));
          running -= 1;
          return call.message;
        }),
      },
      { maxConcurrentCalls: 10 },
    );
    await using channel = new GrpcChannel(server.address);
    await Promise.all(Array.from({ length: 200 }, () => channel.unary("/t.T/Slow", bytes(""))));
    expect(most).toBeLessThanOrEqual(10);
    expect(most).toBeGreaterThan(1);
  });

  test("handlers that go on after their calls were cancelled count", async () => {
    const stuck: (() => void)[] = [];
    await using server = await startServer(
      {
        Stuck: unary(async (call) => {
          await new Promise<void>((resolve) => stuck.push(resolve));
          return call.message;
        }),
      },
      { maxConcurrentCalls: 5 },
    );
    await using channel = new GrpcChannel(server.address);
    for (let count = 1; count <= 10; count++) {
      const controller = new AbortController();
      const answer = channel.unary("/t.T/Stuck", bytes(""), { signal: controller.signal });
      await eventually(() => expect(stuck).toHaveLength(count));
      controller.abort();
      await expect(answer).rejects.toThrow("aborted");
    }
    await expect(channel.unary("/t.T/Stuck", bytes(""))).rejects.toMatchObject({
      code: Status.resourceExhausted,
      message: "too many cancelled calls of this connection still run",
    });
    for (const finish of stuck) finish();
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("a connection that makes more calls per second than it may is refused, and may call again later", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ Echo: echo }, { clock, maxCallsPerSecond: 3 });
    await using channel = new GrpcChannel(server.address);
    const call = () => channel.unary("/t.T/Echo", bytes("x"));
    for (let count = 0; count < 3; count++) expect(text(await call())).toBe("x");
    await expect(call()).rejects.toMatchObject({ code: Status.resourceExhausted });
    await clock.advance(400);
    expect(text(await call())).toBe("x");
    await expect(call()).rejects.toMatchObject({ code: Status.resourceExhausted });
  });

  test("metadata that is too large is refused where it is given", async () => {
    await using server = await startServer({
      Echo: echo,
      Trailers: unary((call) => {
        call.setTrailers({ a: "x".repeat(16_000) });
        return call.message;
      }),
    });
    await using channel = new GrpcChannel(server.address);
    const call = (bytesOf: number) => channel.unary("/t.T/Echo", bytes("x"), { metadata: { a: "x".repeat(bytesOf) } });
    expect(text(await call(15_000))).toBe("x");
    await expect(call(16_000)).rejects.toThrow("metadata of 16033 bytes is larger than the 15360 that can be sent");
    expect(() => new GrpcChannel(server.address, { metadata: { a: "x".repeat(16_000) } })).toThrow(RangeError);
    await expect(channel.unary("/t.T/Trailers", bytes(""))).rejects.toMatchObject({
      code: Status.unknown,
      message: expect.stringContaining("metadata of 16033 bytes"),
    });
    expect(text(await call(10))).toBe("x");
    expect(server.server.connectionCount).toBe(1);
  });

  test.each([
    [{ maxReceivedMessageBytes: 0 }, "maxReceivedMessageBytes must be a number from 1"],
    [{ maxConcurrentCalls: Infinity }, "maxConcurrentCalls must be a number from 1"],
    [{ keepaliveMs: -1 }, "keepaliveMs must be a number from 1 to 2147483647, or Infinity"],
  ])("the server refuses %o", async (options, message) => {
    await expect(startServer({ Echo: echo }, options)).rejects.toThrow(message);
  });

  test("a method's name that nobody can call is refused", async () => {
    await expect(startServer({}, { methods: new Map([["Echo", echo]]) })).rejects.toThrow("/package.Service/Method");
  });
});

describe("authorisation", () => {
  test.each(["at once", "later"])("is asked for before the handler, and may refuse %s", async (when) => {
    let handled = 0;
    await using server = await startServer(
      {
        Who: unary((call) => {
          handled += 1;
          return bytes(`${String(call.identity)} ${call.path} ${call.peer.kind} ${call.peer.encrypted}`);
        }),
      },
      {
        authorize: ({ metadata }) => {
          const token = metadata.get("authorization");
          const decide = (): string => {
            if (token === "Bearer right") return "alice";
            throw new GrpcError(Status.unauthenticated, "who are you?");
          };
          return when === "at once" ? decide() : new Promise((resolve) => setImmediate(resolve)).then(decide);
        },
      },
    );
    await using channel = new GrpcChannel(server.address);
    const call = (token: string) =>
      channel.unary("/t.T/Who", bytes(""), { metadata: { authorization: `Bearer ${token}` } });
    expect(text(await call("right"))).toBe("alice /t.T/Who unix false");
    await expect(call("wrong")).rejects.toMatchObject({ code: Status.unauthenticated, message: "who are you?" });
    await expect(channel.unary("/t.T/Who", bytes(""))).rejects.toMatchObject({ code: Status.unauthenticated });
    expect(handled).toBe(1);
    await eventually(() => expect(server.server.callCount).toBe(0));
  });

  test("that fails for another reason is logged, and refuses", async () => {
    const logger = new RecordingLogger();
    await using server = await startServer(
      { Echo: echo },
      {
        logger,
        authorize: () => {
          throw new Error("no keys");
        },
      },
    );
    await using channel = new GrpcChannel(server.address);
    await expect(channel.unary("/t.T/Echo", bytes(""))).rejects.toMatchObject({ code: Status.unknown });
    expect(logger.lines).toHaveLength(1);
  });
});
