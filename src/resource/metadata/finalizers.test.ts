import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { NO_FINALIZERS, sameFinalizers, sealFinalizers, withFinalizers, withoutFinalizers } from "./finalizers.ts";

describe("finalizers", () => {
  test.for([0, 1, 2, 3])("[state 101] %i of them are equal whatever their order", (count) => {
    const names = ["A", "B", "C"].slice(0, count);
    const [forth, back] = [sealFinalizers(names), sealFinalizers([...names].reverse())];
    expect(sameFinalizers(forth, back)).toBe(true);
    expect(sameFinalizers(forth, withFinalizers(back, "D"))).toBe(false);
    expect(sameFinalizers(withFinalizers(forth, "D"), back)).toBe(false);
    expect(sameFinalizers(withFinalizers(forth, "D"), withFinalizers(back, "E"))).toBe(false);
  });

  test("[transport C13] [state 102] are added and removed without a change to other copies", () => {
    expect(NO_FINALIZERS).toHaveLength(0);
    const one = withFinalizers(NO_FINALIZERS, "A");
    expect(one).toEqual(["A"]);
    const [left, right] = [withFinalizers(one, "L"), withFinalizers(one, "R")];
    expect([one, left, right]).toEqual([["A"], ["A", "L"], ["A", "R"]]);

    expect(withFinalizers(left, "A")).toBe(left);
    expect(withoutFinalizers(left, "R")).toBe(left);
    const removed = withoutFinalizers(left, "A");
    expect(removed).toEqual(["L"]);
    expect(withoutFinalizers(removed, "A")).toBe(removed);

    expect(sealFinalizers([])).toBe(NO_FINALIZERS);
    const set = sealFinalizers(right);
    expect(["A", "R"].every((name) => set.includes(name))).toBe(true);
  });

  test("a list may not be changed", () => {
    for (const list of [NO_FINALIZERS, sealFinalizers(["A"]), withFinalizers(["A"], "B")]) {
      expect(() => (list as string[]).push("C")).toThrow(TypeError);
    }
  });

  const names = fc.array(fc.constantFrom("A", "B", "C", "D", "__proto__", ""), { maxLength: 4 });
  property.prop([fc.array(fc.tuple(fc.boolean(), names), { maxLength: 12 })])("behave like an ordered set", (steps) => {
    const model = new Set<string>();
    let list = NO_FINALIZERS;
    for (const [add, given] of steps) {
      const before = list;
      const size = model.size;
      for (const name of given) model[add ? "add" : "delete"](name);
      list = add ? withFinalizers(list, ...given) : withoutFinalizers(list, ...given);
      expect(list).toEqual([...model]);
      expect(list === before).toBe(model.size === size);
    }
  });

  property.prop([names, names])("are equal when the sets are", (a, b) => {
    const [left, right] = [new Set(a), new Set(b)];
    const same = left.size === right.size && left.isSubsetOf(right);
    expect(sameFinalizers(sealFinalizers(a), sealFinalizers(b))).toBe(same);
  });
});
