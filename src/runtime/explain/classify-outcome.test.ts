import { describe, expect, test } from "vitest";
import { requeueAfter, RequeueError, skip, SkipError } from "../../controller/index.ts";
import { classifyResult, classifyThrown } from "./classify-outcome.ts";

const live = new AbortController().signal;
const classify = (thrown: unknown, signal: AbortSignal = live) => classifyThrown(thrown, "the handler", signal);

describe("what a handler returns", () => {
  test("nothing is success", () => {
    expect(classifyResult(undefined, "the handler")).toEqual({ kind: "done", afterMs: undefined, clearsBackoff: true });
  });

  test("a request to run again is success with a time; 0 is at once", () => {
    expect(classifyResult(requeueAfter(5), "the handler")).toEqual({
      kind: "requeued",
      afterMs: 5,
      clearsBackoff: true,
    });
    expect(classifyResult(requeueAfter(0), "the handler")).toEqual({
      kind: "requeued",
      afterMs: 0,
      clearsBackoff: true,
    });
  });

  test("a skip says why", () => {
    expect(classifyResult(skip("not yet"), "the handler")).toMatchObject({
      kind: "skipped",
      reason: "not yet",
      clearsBackoff: true,
    });
  });
});

describe("what a handler returns by mistake", () => {
  test.for([[null], [true], ["text"], [{}], [{ kind: "other" }]])("%j is success", ([returned]) => {
    expect(classifyResult(returned as never, "the handler")).toMatchObject({ kind: "done", afterMs: undefined });
  });
});

test.for([[Infinity], [NaN], [-1], ["5"], [undefined], [Symbol("?")]])(
  "a request to run again after %s fails and says why",
  ([afterMs]) => {
    const verdict = classifyResult({ kind: "requeue", afterMs }, "the handler");
    expect(verdict).toMatchObject({ kind: "failed", clearsBackoff: false });
    expect(verdict.error?.message).toMatch(/^the handler asked to run again, but afterMs has to be .* got /);
  },
);

describe("what a handler throws", () => {
  test("a cancellation is success, even while nobody stops", () => {
    const stopped = AbortSignal.abort("any reason");
    expect(classify(new DOMException("stop", "AbortError"))).toMatchObject({ kind: "done", clearsBackoff: true });
    expect(classify("any reason", stopped)).toMatchObject({ kind: "done" });
    expect(classify("any reason")).toMatchObject({ kind: "failed" });
  });

  test("a requeue without a failure is success with a time", () => {
    expect(classify(new RequeueError(100))).toEqual({ kind: "requeued", afterMs: 100, clearsBackoff: true });
    expect(classify(new RequeueError(0))).toEqual({ kind: "requeued", afterMs: 0, clearsBackoff: true });
  });

  test("a requeue with a failure fails at a time of its own and leaves the backoff alone", () => {
    const failure = new Error("broken");
    const expected = { kind: "failed", afterMs: 100, clearsBackoff: false, error: failure };
    expect(classify(new RequeueError(100, failure))).toEqual(expected);
    expect(classify(new Error("outer", { cause: new RequeueError(100, failure) }))).toEqual(expected);
    expect(classify(new RequeueError(0, failure))).toEqual({ ...expected, afterMs: undefined });
  });

  test("several errors at once are a skip or a requeue when each of them is, and else a failure", () => {
    const skipped = new Error("outer", { cause: new SkipError("not yet") });
    const broken = new Error("broken");
    const several = (...errors: readonly unknown[]) => new Error("outer", { cause: new AggregateError(errors) });
    expect(classify(several(skipped, new SkipError("nor this")))).toMatchObject({ kind: "skipped", reason: "not yet" });
    expect(classify(several(new RequeueError(100), new RequeueError(200)))).toMatchObject({
      kind: "requeued",
      afterMs: 100,
    });
    for (const mixed of [several(skipped, broken), several(broken, new RequeueError(100)), several()]) {
      expect(classify(mixed)).toMatchObject({ kind: "failed", error: mixed, clearsBackoff: false });
    }
    const disposal = new SuppressedError(new SkipError("one"), new SkipError("two"));
    expect(classify(disposal)).toMatchObject({ kind: "skipped", reason: "one" });
    expect(classify(new SuppressedError(broken, new SkipError("two")))).toMatchObject({ kind: "failed" });
  });

  test("a skip is found through layers of errors; inside a requeue it keeps the time", () => {
    const wrapped = new Error("outer", { cause: new Error("middle", { cause: new SkipError("not yet") }) });
    expect(classify(wrapped)).toMatchObject({
      kind: "skipped",
      reason: "not yet",
      afterMs: undefined,
      clearsBackoff: true,
    });
    expect(classify(new RequeueError(100, wrapped))).toMatchObject({ kind: "skipped", afterMs: 100 });
  });

  test.for([["a text"], [undefined], [null], [{ message: "no error" }]])(
    "%s becomes an error that says who threw it",
    ([thrown]) => {
      const { kind, error } = classify(thrown);
      expect(kind).toBe("failed");
      expect(error).toBeInstanceOf(Error);
      expect(error?.message).toContain("the handler");
      expect(error?.stack).toBeDefined();
    },
  );
});
