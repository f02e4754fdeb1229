import { describe, expect, test } from "vitest";
import { runWithSignal } from "./run-with-signal.ts";

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe("runWithSignal", () => {
  test("gives the result first, then aborts its signal; the result stays readable [state 158]", async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const order: string[] = [];
    const future = runWithSignal(() => promise);
    const ended = aborted(future.signal).then(() => order.push("aborted"));
    void future.result.then(() => order.push("result"));
    expect(future.signal.aborted).toBe(false);
    resolve(42);
    await ended;
    expect(order).toEqual(["result", "aborted"]);
    expect(future.signal.aborted).toBe(true);
    expect(await future.result).toBe(42);
  });

  test("passes an abort on to a function that waits for it, and delivers what that returns [state 158]", async () => {
    const parent = new AbortController();
    const future = runWithSignal(
      async (signal) => {
        await aborted(signal);
        return signal.reason as unknown;
      },
      { signal: parent.signal },
    );
    expect(future.signal.aborted).toBe(false);
    parent.abort("enough");
    expect(future.signal.aborted).toBe(true);
    expect(await future.result).toBe("enough");
  });

  test("starts under a parent that is aborted already, with an aborted signal", async () => {
    const future = runWithSignal((signal) => signal.aborted, { signal: AbortSignal.abort("early") });
    expect(await future.result).toBe(true);
    expect(future.signal.reason).toBe("early");
  });

  test("turns a synchronous throw into a rejection and the reason of the abort", async () => {
    const failure = new Error("broken");
    const future = runWithSignal((): number => {
      throw failure;
    });
    await expect(future.result).rejects.toBe(failure);
    expect(future.signal.reason).toBe(failure);
  });

  test("lets a failure pass that nobody waits for", async () => {
    const future = runWithSignal(() => Promise.reject(new Error("unseen")));
    await aborted(future.signal);
    expect(future.signal.reason).toEqual(new Error("unseen"));
  });

  test("leaves its parent alone once it has ended", async () => {
    const parent = new AbortController();
    const future = runWithSignal(() => 1, { signal: parent.signal });
    await future.result;
    await aborted(future.signal);
    const { reason } = future.signal as { reason: unknown };
    parent.abort("late");
    expect(future.signal.reason).toBe(reason);
  });
});
