import { describe, expect, test } from "vitest";
import { LazySignal } from "./lazy-signal.ts";

describe("a lazy signal", () => {
  test("aborts those who asked before, and is aborted for those who ask later", () => {
    const lazy = new LazySignal();
    const early = lazy.signal;
    expect(early.aborted).toBe(false);
    const reason = new Error("enough");
    expect(lazy.abort(reason)).toBe(true);
    expect(early.reason).toBe(reason);
    const other = new LazySignal();
    other.abort(reason);
    expect(other.asked).toBeUndefined();
    expect(other.signal.reason).toBe(reason);
  });

  test("keeps its first reason", () => {
    const lazy = new LazySignal();
    expect([lazy.aborted, lazy.reason]).toEqual([false, undefined]);
    lazy.abort("first");
    expect(lazy.abort("second")).toBe(false);
    expect([lazy.aborted, lazy.reason, lazy.signal.reason]).toEqual([true, "first", "first"]);
  });
});
