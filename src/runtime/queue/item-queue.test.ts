import { describe, expect, test } from "vitest";
import { ItemQueue, KindQueue } from "./item-queue.ts";

const setUp = () => ({ queue: new ItemQueue<string, string>(), kindQueue: new KindQueue<string, string>("job") });

describe("ItemQueue", () => {
  test("under load never gives one key to two workers, and loses none [engine T-26]", () => {
    const { queue, kindQueue } = setUp();
    const workers = Array.from({ length: 5 }, () => ({ item: queue.take(0), untilMs: 0 }));
    const processed = new Map<string, number>();
    const inHand = new Set<string>();
    // Another worker comes first each time, as in life: an even one alone would requeue its key for ever.
    const work = (nowMs: number): void => {
      workers.forEach((_, turn) => {
        const number = (turn + Math.floor(nowMs / 4)) % workers.length;
        const worker = workers[number];
        if (worker === undefined) return;
        const { item } = worker;
        if (item !== undefined && worker.untilMs <= nowMs) {
          inHand.delete(item.id);
          if (number % 2 === 0) queue.requeue(item, nowMs + 10, nowMs);
          else queue.release(item, nowMs);
          worker.item = undefined;
        }
        if (worker.item !== undefined) return;
        worker.item = queue.take(nowMs);
        if (worker.item === undefined) return;
        const { id } = worker.item;
        expect(inHand.has(id)).toBe(false);
        inHand.add(id);
        worker.untilMs = nowMs + 5;
        processed.set(id, (processed.get(id) ?? 0) + 1);
      });
    };
    let nowMs = 0;
    for (let round = 0; round < 100; round++) {
      for (let key = 0; key < 100; key++) {
        queue.put(kindQueue, `key-${key}`, "", ++nowMs);
        work(nowMs);
      }
    }
    // Even workers requeue whatever they get, so it is the odd ones that let keys go in the end.
    for (let idleMs = 0; idleMs < 1000; idleMs++) {
      work(++nowMs);
      if (queue.length > 0 || inHand.size > 0) idleMs = 0;
    }
    expect(queue.length).toBe(0);
    expect(processed.size).toBe(100);
    for (const count of processed.values()) expect(count).toBeGreaterThanOrEqual(50);
  });

  test("is a set of keys: duplicates are ignored, removed keys can come back [engine T-32]", () => {
    const { queue, kindQueue } = setUp();
    const put = (id: string) => queue.put(kindQueue, id, "", 0);
    for (const id of ["a", "b", "c", "d", "e"]) put(id);
    for (const id of ["a", "b", "c"]) put(id);
    expect(queue.length).toBe(5);
    expect(kindQueue.find("a")).toBeDefined();
    for (const id of ["a", "b"]) {
      const item = queue.take(0);
      expect(item?.id).toBe(id);
      if (item !== undefined) queue.release(item, 0);
      // removing what is not there any more does nothing
      if (item !== undefined) queue.release(item, 0);
      expect(kindQueue.find(id)).toBeUndefined();
    }
    expect(queue.length).toBe(3);
    put("a");
    put("b");
    put("a");
    expect(queue.length).toBe(5);
  });

  test("a put makes a key that backs off due at once, and leaves one that is due in its place", () => {
    const { queue, kindQueue } = setUp();
    queue.put(kindQueue, "failing", "old", 0);
    const failing = queue.take(0);
    if (failing === undefined) throw new Error("nothing was due");
    queue.requeue(failing, 1000, 0);
    expect(queue.take(999)).toBeUndefined();
    expect(queue.delay(400)).toBe(600);
    queue.put(kindQueue, "first", "", 400);
    queue.put(kindQueue, "failing", "new", 500);
    queue.put(kindQueue, "first", "", 500);
    expect(queue.take(500)?.id).toBe("first");
    expect(queue.take(500)).toMatchObject({ id: "failing", value: "new" });
  });

  test("a key that is put while in flight comes again, with the fresh value, before any backoff", () => {
    const { queue, kindQueue } = setUp();
    for (const settle of ["release", "requeue"] as const) {
      queue.put(kindQueue, "key", "first", 0);
      const item = queue.take(0);
      if (item === undefined) throw new Error("nothing was due");
      queue.put(kindQueue, "key", "second", 1);
      queue.put(kindQueue, "key", "third", 2);
      expect(queue.take(2)).toBeUndefined();
      expect(queue.length).toBe(1);
      if (settle === "release") queue.release(item, 3);
      else queue.requeue(item, 60_000, 3);
      expect(queue.length).toBe(1);
      const again = queue.take(3);
      expect(again).toMatchObject({ id: "key", value: "third" });
      if (again !== undefined) queue.release(again, 3);
    }
    expect(queue.length).toBe(0);
  });

  test("a requeued key keeps its value; releasing it then, or twice, does nothing", () => {
    const { queue, kindQueue } = setUp();
    queue.put(kindQueue, "key", "value", 0);
    const item = queue.take(0);
    if (item === undefined) throw new Error("nothing was due");
    queue.requeue(item, 10, 0);
    queue.release(item, 0);
    expect(queue.length).toBe(1);
    expect(queue.take(10)).toMatchObject({ value: "value" });
    queue.release(item, 10);
    queue.release(item, 10);
    expect(queue.length).toBe(0);
  });

  test("keeps no more keys that are done than in proportion to those that are not", () => {
    const { queue, kindQueue } = setUp();
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 5000; i++) queue.put(kindQueue, `key-${round}-${i}`, "", 0);
      for (let item = queue.take(0); item !== undefined; item = queue.take(0)) queue.release(item, 0);
      expect(queue.length).toBe(0);
      expect(kindQueue.find(`key-${round}-0`)).toBeUndefined();
      expect(kindQueue.kept).toBeLessThanOrEqual(1024);
    }
  });

  test("keys of different kindQueues are different", () => {
    const { queue, kindQueue } = setUp();
    const other = new KindQueue<string, string>("other job");
    queue.put(kindQueue, "key", "", 0);
    queue.put(other, "key", "", 0);
    expect([queue.take(0)?.kindQueue.job, queue.take(0)?.kindQueue.job]).toEqual(["job", "other job"]);
  });

  test("takes and gives nothing once it is closed", () => {
    const { queue, kindQueue } = setUp();
    queue.put(kindQueue, "key", "", 0);
    queue.close();
    queue.put(kindQueue, "other", "", 0);
    expect(queue.length).toBe(1);
    expect(queue.take(0)).toBeUndefined();
  });
});
