import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOT_WAITING, ReleaseOrder, type Releasable } from "./release-order.ts";

interface Key extends Releasable {
  readonly name: number;
  value: string;
}

const BASE_MS = 1_000_000;
const HOUR_MS = 3_600_000;
const NAMES = [1, 2, 3, 4, 5];

const keys = (): Key[] =>
  NAMES.map((name) => ({ name, value: `first ${name}`, releaseAtMs: 0, sequence: 0, slot: NOT_WAITING }));

/** Pops everything that is due at `nowMs`. */
function drain(order: ReleaseOrder<Key>, nowMs: number): Key[] {
  const drained: Key[] = [];
  for (let next = order.peek(nowMs); next !== undefined; next = order.peek(nowMs)) {
    expect(order.delay(nowMs)).toBe(0);
    expect(order.pop()).toBe(next);
    drained.push(next);
  }
  return drained;
}

const names = (list: readonly Key[]): number[] => list.map(({ name }) => name);

describe("ReleaseOrder", () => {
  test("gives equal times in the order they came [engine T-27]", () => {
    const order = new ReleaseOrder<Key>();
    for (const key of keys()) expect(order.push(key, BASE_MS, BASE_MS)).toBe(true);
    const drained = drain(order, BASE_MS);
    expect(names(drained)).toEqual(NAMES);
    expect(drained.map(({ value }) => value)).toEqual(NAMES.map((name) => `first ${name}`));
    expect(order.peek(BASE_MS)).toBeUndefined();
    expect(order.delay(BASE_MS)).toBeUndefined();
    expect(order.length).toBe(0);
  });

  test("gives the earliest time first [engine T-28]", () => {
    const order = new ReleaseOrder<Key>();
    for (const key of keys()) order.push(key, BASE_MS + 10 - key.name, BASE_MS);
    const reversed: number[] = [];
    for (const delayMs of [5, 6, 7, 8, 9]) {
      expect(order.peek(BASE_MS)).toBeUndefined();
      expect(order.delay(BASE_MS)).toBe(delayMs);
      const due = order.peek(BASE_MS + HOUR_MS);
      expect(order.pop()).toBe(due);
      if (due !== undefined) reversed.push(due.name);
    }
    expect(reversed).toEqual([5, 4, 3, 2, 1]);
  });

  test("has each key once, with the value of the last push [engine T-29]", () => {
    const order = new ReleaseOrder<Key>();
    const five = keys();
    for (const key of five) order.push(key, BASE_MS, BASE_MS);
    for (const key of five) {
      key.value = `second ${key.name}`;
      expect(order.push(key, BASE_MS, BASE_MS)).toBe(false);
    }
    expect(order.length).toBe(5);
    const drained = drain(order, BASE_MS);
    expect(names(drained)).toEqual(NAMES);
    expect(drained.map(({ value }) => value)).toEqual(NAMES.map((name) => `second ${name}`));
  });

  test("a later time does not win [engine T-30]", () => {
    const order = new ReleaseOrder<Key>();
    const five = keys();
    for (const key of five) order.push(key, BASE_MS + 30 - key.name, BASE_MS);
    // without overwriting: the value stays what it was
    for (const key of five) expect(order.push(key, BASE_MS + 50 - key.name, BASE_MS)).toBe(false);
    expect(order.length).toBe(5);
    for (const name of [5, 4, 3, 2, 1]) {
      expect(order.delay(BASE_MS)).toBe(30 - name);
      expect(order.pop()).toMatchObject({ name, value: `first ${name}` });
    }
  });

  test("an earlier time wins [engine T-31]", () => {
    const order = new ReleaseOrder<Key>();
    const five = keys();
    for (const key of five) order.push(key, BASE_MS + 30 - key.name, BASE_MS);
    for (const key of five) {
      key.value = `second ${key.name}`;
      expect(order.push(key, BASE_MS + 10 - key.name, BASE_MS)).toBe(false);
    }
    expect(order.length).toBe(5);
    for (const name of [5, 4, 3, 2, 1]) {
      expect(order.delay(BASE_MS)).toBe(10 - name);
      expect(order.pop()).toMatchObject({ name, value: `second ${name}` });
    }
  });

  test("what waited longer than what was due at once comes first", () => {
    const order = new ReleaseOrder<Key>();
    const [late, now, later] = keys();
    if (late === undefined || now === undefined || later === undefined) throw new Error("too few keys");
    order.push(late, BASE_MS + 5, BASE_MS);
    order.push(now, BASE_MS + 10, BASE_MS + 10);
    order.push(later, BASE_MS + 20, BASE_MS + 10);
    expect(names(drain(order, BASE_MS + 30))).toEqual([1, 2, 3]);
  });

  test("orders like a sorted list, whatever is pushed, moved forward and popped", () => {
    const step = fc.record({ name: fc.nat(30), delayMs: fc.nat(50), passMs: fc.nat(10), pop: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const order = new ReleaseOrder<Key>();
        const all = Array.from({ length: 31 }, (_, name): Key => {
          return { name, value: "", releaseAtMs: 0, sequence: 0, slot: NOT_WAITING };
        });
        let model: { key: Key; atMs: number; sequence: number }[] = [];
        let nowMs = BASE_MS;
        const popped: (number | undefined)[] = [];
        const expected: (number | undefined)[] = [];
        steps.forEach(({ name, delayMs, passMs, pop }, sequence) => {
          nowMs += passMs;
          const key = all[name];
          if (key === undefined) return;
          if (pop) {
            const first = model.toSorted((a, b) => a.atMs - b.atMs || a.sequence - b.sequence)[0];
            const due = first !== undefined && first.atMs <= nowMs ? first : undefined;
            expected.push(due?.key.name);
            model = model.filter((entry) => entry !== due);
            popped.push(order.peek(nowMs) && order.pop()?.name);
            return;
          }
          const atMs = nowMs + delayMs;
          const waiting = model.find((entry) => entry.key === key);
          expect(order.push(key, atMs, nowMs)).toBe(waiting === undefined);
          if (waiting === undefined) model.push({ key, atMs, sequence });
          else if (atMs < waiting.atMs) Object.assign(waiting, { atMs, sequence });
          expect(order.length).toBe(model.length);
        });
        expect(popped).toEqual(expected);
      }),
    );
  });

  test("keeps its order through long lines that are never empty", () => {
    const order = new ReleaseOrder<Key>();
    const many = Array.from({ length: 5000 }, (_, name): Key => {
      return { name, value: "", releaseAtMs: 0, sequence: 0, slot: NOT_WAITING };
    });
    const popped: number[] = [];
    many.forEach((key, i) => {
      order.push(key, BASE_MS + i, BASE_MS + i);
      if (i % 3 > 0) popped.push(order.pop()?.name ?? -1);
    });
    for (let next = order.pop(); next !== undefined; next = order.pop()) popped.push(next.name);
    expect(popped).toEqual(many.map(({ name }) => name));
  });
});
