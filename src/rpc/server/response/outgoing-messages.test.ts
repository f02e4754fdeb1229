import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../clock/index.ts";
import type { ServerStream } from "../../http2/http2.ts";
import type { HeaderFields } from "../../metadata.ts";
import { FramedMessages, frameMessages, MessageReader } from "../../message-frame.ts";
import { OutgoingBudget } from "./outgoing-budget.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";

/** A stream whose pieces leave when the test says so. */
class SlowStream implements ServerStream {
  readonly headers: HeaderFields = {};
  readonly events: string[] = [];
  readonly pieces: Uint8Array[] = [];
  #done: (() => void) | undefined;

  listen(): void {}

  respond(): void {
    this.events.push("respond");
  }

  write(piece: Uint8Array, done: () => void): void {
    expect(this.#done).toBeUndefined();
    this.events.push(`write ${piece.length}`);
    this.pieces.push(piece);
    this.#done = done;
  }

  finish(piece: Uint8Array | undefined): void {
    this.events.push(`finish ${piece?.length ?? 0}`);
    if (piece !== undefined) this.pieces.push(piece);
  }

  refuse(headers: HeaderFields): void {
    this.events.push(`refuse ${JSON.stringify(headers)}`);
  }

  pause(): void {}

  resume(): void {}

  reset(): void {
    this.events.push("reset");
  }

  /** The piece that is under way has left. */
  leave(): void {
    const done = this.#done;
    this.#done = undefined;
    expect(done).toBeDefined();
    done?.();
  }

  messages(): number[][] {
    const read: Uint8Array[] = [];
    const reader = new MessageReader(1_000_000);
    for (const piece of this.pieces) reader.push(piece, read);
    return read.map((message) => [...message]);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const message = (length: number, fill = 1): Uint8Array => new Uint8Array(length).fill(fill);

const newBudget = (): OutgoingBudget => new OutgoingBudget(new ManualClock(), () => {}, 8 * 1024 * 1024);

function open(budget = newBudget()) {
  const stream = new SlowStream();
  return { stream, budget, outgoing: new OutgoingMessages(stream, { h: "1" }, budget) };
}

describe("OutgoingMessages", () => {
  test("what is pushed in one turn leaves as one piece, behind the headers", async () => {
    const { stream, outgoing } = open();
    for (let value = 1; value <= 3; value++) outgoing.push(message(10, value));
    await Promise.resolve();
    outgoing.push(message(10, 4));
    expect(stream.events).toEqual([]);
    await turn();
    expect(stream.events).toEqual(["respond", "write 60"]);
    expect(stream.messages().map(([first]) => first)).toEqual([1, 2, 3, 4]);
  });

  test("one piece is under way at a time; the next is all that gathered, up to 60 kB", async () => {
    const { stream, outgoing } = open();
    outgoing.push(message(5));
    await turn();
    for (let count = 0; count < 100; count++) outgoing.push(message(995));
    await turn();
    expect(stream.events).toEqual(["respond", "write 10"]);
    stream.leave();
    stream.leave();
    expect(stream.events.slice(2)).toEqual(["write 60000", "write 40000"]);
    stream.leave();
    expect(outgoing.queuedBytes).toBe(0);
    expect(stream.messages()).toHaveLength(101);
  });

  test("a message larger than two pieces is cut into pieces, framed or not", async () => {
    const { stream, outgoing } = open();
    outgoing.push(message(10));
    outgoing.push(message(150_000, 2));
    outgoing.push(new FramedMessages([message(130_000, 3)]));
    outgoing.push(message(100_000, 4));
    outgoing.push(message(10));
    await turn();
    for (let count = 0; count < 8; count++) stream.leave();
    expect(stream.events.slice(1).map((event) => Number(event.split(" ")[1]))).toEqual([
      15, 60_000, 60_000, 30_005, 60_000, 60_000, 10_005, 100_005, 15,
    ]);
    expect(stream.messages().map(({ length, 0: first }) => [length, first])).toEqual([
      [10, 1],
      [150_000, 2],
      [130_000, 3],
      [100_000, 4],
      [10, 1],
    ]);
  });

  test("what is framed for many goes out without a copy", async () => {
    const { stream, outgoing } = open();
    const shared = new FramedMessages([message(3), message(4)]);
    outgoing.push(shared);
    await turn();
    expect(stream.pieces[0]).toBe(shared.bytes);
    outgoing.push(message(1));
    outgoing.push(shared);
    stream.leave();
    expect(stream.pieces[1]).toEqual(Buffer.concat([frameMessages([message(1)]), shared.bytes]));
  });

  test("the trailers follow the last message, in the same step where that is possible", async () => {
    const { stream, outgoing } = open();
    outgoing.push(message(5));
    outgoing.finish({ t: "1" });
    await turn();
    expect(stream.events).toEqual(["respond", "finish 10"]);
    const other = open();
    other.outgoing.push(message(5));
    await turn();
    other.outgoing.finish({ t: "1" });
    expect(other.stream.events).toEqual(["respond", "write 10"]);
    other.stream.leave();
    expect(other.stream.events).toEqual(["respond", "write 10", "finish 0"]);
  });

  test("without a message there are headers alone", () => {
    const { stream, outgoing } = open();
    outgoing.finish({ t: "1" });
    expect(stream.events).toEqual(['refuse {"h":"1","t":"1"}']);
  });

  test("who waits for room is woken when the piece that makes it has left, whenever the wait began", async () => {
    const { stream, outgoing } = open();
    expect(outgoing.hasRoom).toBe(true);
    await outgoing.drained();
    outgoing.push(message(50_000));
    outgoing.push(message(50_000));
    outgoing.push(message(50_000));
    expect(outgoing.hasRoom).toBe(false);
    await turn();
    // One is under way, two wait.
    let woken = 0;
    const wait = (): unknown => outgoing.drained().then(() => (woken += 1));
    wait();
    wait();
    await turn();
    expect(woken).toBe(0);
    stream.leave();
    // One waits: there is room, for those who waited, and for who asks now.
    wait();
    await turn();
    expect(woken).toBe(3);
    expect(outgoing.hasRoom).toBe(true);
  });

  test("stopping drops what waits, wakes who waits with the reason, and lets the piece under way go", async () => {
    const { stream, budget, outgoing } = open();
    for (let count = 0; count < 3; count++) outgoing.push(message(59_000));
    await turn();
    const waiting = outgoing.drained();
    expect(budget.usedBytes).toBe(3 * 59_005);
    const reason = new Error("over");
    outgoing.stop(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(budget.usedBytes).toBe(59_005);
    outgoing.finish({});
    stream.leave();
    expect(budget.usedBytes).toBe(0);
    expect(stream.events).toEqual(["respond", "write 59005", "finish 0"]);
  });

  test("a stopped waiter that nobody listens to any more is no unhandled rejection", async () => {
    const { outgoing } = open();
    outgoing.push(message(70_000));
    outgoing.push(message(70_000));
    void outgoing.drained().catch(() => {});
    outgoing.stop(new Error("over"));
    await turn();
    expect(outgoing.hasRoom).toBe(true);
  });

  test("a stream that is behind waits while its connection has half of its budget waiting; one that is not, at all of it", async () => {
    const budget = newBudget();
    const first = open(budget);
    const second = open(budget);
    const third = open(budget);
    first.outgoing.push(message(1));
    await turn();
    first.outgoing.push(message(1));
    expect(first.outgoing.hasRoom).toBe(true);
    second.outgoing.push(message(4 * 1024 * 1024));
    expect(first.outgoing.hasRoom).toBe(false);
    expect(third.outgoing.hasRoom).toBe(true);
    second.outgoing.push(message(4 * 1024 * 1024));
    expect(third.outgoing.hasRoom).toBe(false);
    const woken: string[] = [];
    void first.outgoing.drained().then(() => woken.push("first"));
    void third.outgoing.drained().then(() => woken.push("third"));
    await turn();
    first.stream.leave();
    first.stream.leave();
    await turn();
    expect(woken).toEqual([]);
    second.stream.leave();
    await turn();
    expect(woken).toEqual(["third", "first"]);
  });

  test("a stream is stuck when it has bytes of which none has left since it was asked", async () => {
    const { stream, outgoing } = open();
    expect(outgoing.isStuck()).toBe(false);
    expect(outgoing.isStuck()).toBe(false);
    outgoing.push(message(150_000));
    await turn();
    expect(outgoing.isStuck()).toBe(false);
    expect(outgoing.isStuck()).toBe(true);
    stream.leave();
    expect(outgoing.isStuck()).toBe(false);
    expect(outgoing.isStuck()).toBe(true);
  });
});
