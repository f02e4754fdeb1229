import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isCancellation } from "./cancellation.ts";

const aborted = (reason?: unknown): AbortSignal => AbortSignal.abort(reason);
const abortError = (): DOMException => new DOMException("stop", "AbortError");

describe("isCancellation", () => {
  test("sees an AbortError, wherever it comes from", async () => {
    expect(isCancellation(abortError())).toBe(true);
    expect(isCancellation(aborted().reason)).toBe(true);
    expect(isCancellation(await sleep(1000, undefined, { signal: aborted() }).catch((error: unknown) => error))).toBe(
      true,
    );
  });

  test("sees it through causes, but not through endless ones", () => {
    expect(isCancellation(new Error("save", { cause: new Error("write", { cause: abortError() }) }))).toBe(true);
    const loop = new Error("loop");
    loop.cause = loop;
    expect(isCancellation(loop)).toBe(false);
    const wide = new AggregateError([]);
    wide.errors.push(wide, wide);
    expect(isCancellation(wide)).toBe(false);
    let shared: Error = abortError();
    for (let level = 0; level < 64; level++) shared = new AggregateError([shared, shared]);
    expect(isCancellation(shared)).toBe(false);
  });

  test("takes a reason of any type from an aborted signal, and from no other", () => {
    const reason = new Error("shutting down");
    expect(isCancellation(reason, aborted(reason))).toBe(true);
    expect(isCancellation(new Error("save", { cause: reason }), aborted(reason))).toBe(true);
    expect(isCancellation("enough", aborted("enough"))).toBe(true);
    expect(isCancellation(reason, aborted(new Error("shutting down")))).toBe(false);
    expect(isCancellation(reason, new AbortController().signal)).toBe(false);
    expect(isCancellation(undefined, new AbortController().signal)).toBe(false);
  });

  test("a timeout is a failure, unless it is the signal's own reason", () => {
    const timeout = new DOMException("too slow", "TimeoutError");
    expect(isCancellation(timeout)).toBe(false);
    expect(isCancellation(Object.assign(new Error("slow", { cause: abortError() }), { name: "TimeoutError" }))).toBe(
      false,
    );
    expect(isCancellation(timeout, aborted(timeout))).toBe(true);
  });

  test("sees a cancelled gRPC call, and takes no other code 1 for one", () => {
    expect(isCancellation(Object.assign(new Error("cancelled"), { code: 1, details: "", metadata: {} }))).toBe(true);
    expect(isCancellation(Object.assign(new Error("exit"), { code: 1, cmd: "false" }))).toBe(false);
  });

  test("an aggregate is one when all its parts are", () => {
    expect(isCancellation(new AggregateError([abortError(), new Error("x", { cause: abortError() })]))).toBe(true);
    expect(isCancellation(new AggregateError([abortError(), new Error("disk full")]))).toBe(false);
    expect(isCancellation(new AggregateError([]))).toBe(false);
    const suppressed = (error: unknown, older: unknown): Error =>
      Object.assign(new Error("both"), { name: "SuppressedError", error, suppressed: older });
    expect(isCancellation(suppressed(abortError(), abortError()))).toBe(true);
    expect(isCancellation(suppressed(abortError(), new Error("disk full")))).toBe(false);
  });

  test.for([undefined, null, "AbortError", 1, new Error("x"), {}])("%s is none", (value) => {
    expect(isCancellation(value)).toBe(false);
  });
});
