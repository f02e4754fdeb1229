import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { isCancellation } from "../../internal/cancellation.ts";
import { MemoryState } from "../../memory/index.ts";
import { createTombstone } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import { signalWithTeardown } from "./signal-with-teardown.ts";

const ref = Int.ref("one");
const clock = { defer: (fn: () => void) => void setImmediate(fn) };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const settle = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await turn();
};
const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

function onAbort(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));
}

/** Only what the signal uses: a watch that can be fed. */
function fedWatch(): { core: Pick<CoreState, "watch">; feed: (event: Event) => void; released: () => number } {
  const events: Event[] = [];
  let wake: (() => void) | undefined;
  let released = 0;
  const end = (): Promise<{ done: true; value: undefined }> => {
    released += 1;
    wake?.();
    return Promise.resolve({ done: true, value: undefined });
  };
  const watch: Watch = {
    next: async () => {
      while (events.length === 0 && released === 0) await new Promise<void>((resolve) => (wake = resolve));
      const value = released === 0 ? events.shift() : undefined;
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => void (await end()),
  };
  return {
    core: { watch: () => Promise.resolve(watch) },
    feed: (event) => {
      events.push(event);
      wake?.();
    },
    released: () => released,
  };
}

describe("signalWithTeardown", () => {
  test("aborts after the call, never before it, for a resource that is missing or going", async () => {
    await using state = new MemoryState();
    for (const missing of [true, false]) {
      const { signal } = await state.signalWithTeardown(ref);
      // Whoever listens right after the call hears of it.
      expect(signal.aborted).toBe(false);
      const reason = await onAbort(signal);
      expect(isCancellation(reason)).toBe(true);
      expect((reason as Error).message).toContain("test/int(default/one)");
      if (missing) {
        await state.create(Int.create("one", { value: 1 }));
        await state.teardown(ref);
      }
    }
  });

  test("aborts when the resource is torn down, or destroyed, and for nothing less", async () => {
    await using state = new MemoryState();
    for (const id of ["down", "gone"]) await state.create(Int.create(id, { value: 1 }));
    await using down = await state.signalWithTeardown(Int.ref("down"));
    await using gone = await state.signalWithTeardown(Int.ref("gone"));
    await state.updateWithConflicts(Int, "down", (spec) => void (spec.value = 2));
    await state.addFinalizer(Int.ref("gone"), "f");
    await state.removeFinalizer(Int.ref("gone"), "f");
    await settle();
    expect([down.signal.aborted, gone.signal.aborted]).toEqual([false, false]);
    await state.destroy(Int.ref("gone"));
    expect(isCancellation(await onAbort(gone.signal))).toBe(true);
    expect(down.signal.aborted).toBe(false);
    await state.teardown(Int.ref("down"));
    expect(isCancellation(await onAbort(down.signal))).toBe(true);
  });

  test("leaves nothing on its parent once it has aborted by itself", async () => {
    await using state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }));
    const parent = new AbortController();
    await using one = await state.signalWithTeardown(ref, { signal: parent.signal });
    await state.teardown(ref);
    await onAbort(one.signal);
    await settle();
    expect(listeners(parent.signal)).toBe(0);
    expect(parent.signal.aborted).toBe(false);
  });

  test("aborts with the parent, for the parent's reason", async () => {
    await using state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }));
    const parent = new AbortController();
    const early = await state.signalWithTeardown(ref, { signal: parent.signal });
    const late = await state.signalWithTeardown(ref, { signal: parent.signal });
    await settle();
    const reason = new Error("shutting down");
    parent.abort(reason);
    expect(early.signal.reason).toBe(reason);
    expect(late.signal.reason).toBe(reason);
    await settle();
    expect(listeners(parent.signal)).toBe(0);
    await expect(state.signalWithTeardown(ref, { signal: parent.signal })).rejects.toBe(reason);
  });

  test("aborts with the error of a watch that failed", async () => {
    const { core, feed, released } = fedWatch();
    const { signal } = await signalWithTeardown(core, clock, ref, {});
    const lost = new Error("lost");
    feed({ type: "Errored", error: lost });
    expect(await onAbort(signal)).toBe(lost);
    await settle();
    expect(released()).toBe(1);
  });

  test("aborts when its State is disposed: nobody watches any more", async () => {
    const state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }));
    const { signal } = await state.signalWithTeardown(ref);
    await settle();
    const reason = onAbort(signal);
    await state[Symbol.asyncDispose]();
    expect(await reason).toMatchObject({ code: "unavailable" });
  });

  test("goes on from the present after its watch has lost its place", async () => {
    const { core, feed } = fedWatch();
    await using one = await signalWithTeardown(core, clock, ref, {});
    feed({ type: "Created", resource: Int.create("one", { value: 1 }) });
    feed({ type: "Resynced", resource: createTombstone(Int.ref("")) });
    feed({ type: "Created", resource: Int.create("one", { value: 2 }) });
    await settle();
    expect(one.signal.aborted).toBe(false);
    feed({ type: "Resynced", resource: createTombstone(Int.ref("")) });
    feed({ type: "Destroyed", resource: createTombstone(ref) });
    expect(isCancellation(await onAbort(one.signal))).toBe(true);
  });

  test("once disposed it stops watching, leaves nothing on the parent and never aborts", async () => {
    await using state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }));
    const parent = new AbortController();
    const before = listeners(parent.signal);
    const at: AbortSignal[] = [];
    for (let i = 0; i < 50; i++) {
      await using derived = await state.signalWithTeardown(ref, { signal: parent.signal });
      at.push(derived.signal);
      if (i % 2 === 0) await settle();
    }
    expect(listeners(parent.signal)).toBe(before);
    await state.destroy(ref);
    parent.abort(new Error("late"));
    await settle();
    expect(at.every((signal) => !signal.aborted)).toBe(true);
  });

  test("releases its watch once, however often it is disposed", async () => {
    const { core, released } = fedWatch();
    const one = await signalWithTeardown(core, clock, ref, {});
    await one[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    expect(released()).toBeGreaterThan(0);
    expect(one.signal.aborted).toBe(false);
  });

  test("a watch that cannot be started is an error of the call", async () => {
    const refused = new Error("no watches here");
    const core = { watch: () => Promise.reject(refused) };
    const parent = new AbortController();
    await expect(signalWithTeardown(core, clock, ref, { signal: parent.signal })).rejects.toBe(refused);
    expect(listeners(parent.signal)).toBe(0);
  });
});
