import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { GrpcError, Status, type DuplexCall, type DuplexStream } from "../../rpc/index.ts";
import { WireWriter } from "../../wire/index.ts";
import { ClientSession } from "./client-session.ts";
import { ServerSession } from "./server-session.ts";
import { writeSessionRequest, writeSessionResponse, readSessionResponse } from "./session-message.ts";

const EMPTY = new Uint8Array(0);

/** One end's stream, whose other end is the test. */
class Pipe {
  readonly sent: Uint8Array[] = [];
  #incoming: (readonly Uint8Array[] | undefined)[] = [];
  #reader: PromiseWithResolvers<readonly Uint8Array[] | undefined> | undefined;

  give(batch: readonly Uint8Array[] | undefined): void {
    if (this.#reader === undefined) this.#incoming.push(batch);
    else this.#reader.resolve(batch);
    this.#reader = undefined;
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#incoming.length > 0) return Promise.resolve(this.#incoming.shift());
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }
}

function clientOn(pipe: Pipe, clock: ManualClock): ClientSession {
  const stream = {
    hasRoom: true,
    onDrain() {},
    acknowledge() {},
    cancel() {},
    read: () => pipe.read(),
    send: (message: Uint8Array) => pipe.sent.push(message),
  };
  return new ClientSession(stream as unknown as DuplexStream, clock);
}

const response = (id: number): Uint8Array => {
  const writer = new WireWriter();
  writeSessionResponse(writer, { id, response: EMPTY });
  return writer.finish();
};
const request = (id: number): Uint8Array => {
  const writer = new WireWriter();
  writeSessionRequest(writer, { id, timeoutMs: 0, call: "Get", message: EMPTY });
  return writer.finish();
};

describe("the client's end of a session", () => {
  test("fails everything when the server responds to a call that was not made [transport Z5]", async () => {
    const pipe = new Pipe();
    const session = clientOn(pipe, new ManualClock());
    const calls = [session.call("Get", EMPTY, {}), session.call("Get", EMPTY, {})];
    pipe.give([response(2), response(77)]);
    await expect(calls[1]).resolves.toEqual(EMPTY);
    await expect(calls[0]).rejects.toMatchObject({ code: Status.unavailable });
    expect(session.isOpen).toBe(false);
    await expect(session.call("Get", EMPTY, {})).rejects.toMatchObject({ code: Status.unavailable });
  });

  test("takes a second response to one call for one that comes late [transport Z5]", async () => {
    const pipe = new Pipe();
    const session = clientOn(pipe, new ManualClock());
    const first = session.call("Get", EMPTY, {});
    pipe.give([response(1), response(1)]);
    await first;
    const second = session.call("Get", EMPTY, {});
    pipe.give([response(2)]);
    await expect(second).resolves.toEqual(EMPTY);
  });

  test("a deadline that passes tells the server, and the response that comes after it is dropped [transport Z4]", async () => {
    const pipe = new Pipe();
    const clock = new ManualClock();
    const session = clientOn(pipe, clock);
    const call = session.call("Get", EMPTY, { deadlineMs: 100 });
    const failure = call.catch((error: unknown) => error);
    await clock.advance(100);
    expect(await failure).toMatchObject({ code: Status.deadlineExceeded });
    expect(pipe.sent).toHaveLength(2);
    pipe.give([response(1)]);
    const next = session.call("Get", EMPTY, {});
    pipe.give([response(2)]);
    await expect(next).resolves.toEqual(EMPTY);
  });

  test("the end of the stream fails what is open", async () => {
    const pipe = new Pipe();
    const session = clientOn(pipe, new ManualClock());
    const call = session.call("Get", EMPTY, {});
    pipe.give(undefined);
    await expect(call).rejects.toMatchObject({ code: Status.unavailable });
    await session.ended;
  });
});

describe("the server's end of a session", () => {
  test("ends with UNAUTHENTICATED when its token is withdrawn; what ran is finished, the rest not begun [transport Z6]", async () => {
    const pipe = new Pipe();
    const clock = new ManualClock();
    let valid = true;
    const begun: number[] = [];
    const release = Promise.withResolvers<Uint8Array>();
    const handler = async ({ message }: { message: Uint8Array }): Promise<Uint8Array> => {
      begun.push(message.length);
      return release.promise;
    };
    const call = {
      signal: new AbortController().signal,
      hasRoom: true,
      read: () => pipe.read(),
      drained: async () => {},
      send: (message: Uint8Array) => pipe.sent.push(message),
      authenticate: async () => {
        if (!valid) throw new GrpcError(Status.unauthenticated, "the token was withdrawn");
      },
    };
    const session = new ServerSession(call as unknown as DuplexCall, {
      clock,
      maxConcurrentCalls: 10,
      maxCallsPerSecond: Infinity,
      handlers: { Get: handler, Create: handler, Update: handler, Destroy: handler, Teardown: handler },
    });
    const failure = session.run().catch((error: unknown) => error);
    pipe.give([request(1)]);
    await clock.advance(2000);
    valid = false;
    pipe.give([request(2)]);
    await clock.advance(10);
    release.resolve(EMPTY);
    expect(await failure).toMatchObject({ code: Status.unauthenticated });
    expect(begun).toHaveLength(1);
    expect(pipe.sent.map((bytes) => readSessionResponse(bytes).id)).toEqual([1]);
  });
});
