import { describe, expect, test } from "vitest";
import { requeueAfter, RequeueError, skip, SkipError } from "../../controller/index.ts";
import { judgeResult, judgeThrown } from "./classify-outcome.ts";

const live = new AbortController().signal;
const judge = (thrown: unknown, signal: AbortSignal = live) => judgeThrown(thrown, "the handler", signal);

describe("what a handler returns", () => {
  test("nothing is success", () => {
    expect(judgeResult(undefined)).toEqual({ kind: "done", afterMs: undefined, clearsBackoff: true });
  });

  test("a request to run again is success with a time; without one it is plain success", () => {
    expect(judgeResult(requeueAfter(5))).toEqual({ kind: "requeued", afterMs: 5, clearsBackoff: true });
    expect(judgeResult(requeueAfter(0))).toMatchObject({ kind: "done", afterMs: undefined });
  });

  test("a skip says why", () => {
    expect(judgeResult(skip("not yet"))).toMatchObject({ kind: "skipped", reason: "not yet", clearsBackoff: true });
  });
});

describe("what a handler returns by mistake", () => {
  test.for([[null], [true], ["text"], [{}], [{ kind: "other" }], [{ kind: "requeue", afterMs: Infinity }]])(
    "%j is success",
    ([returned]) => {
      expect(judgeResult(returned as never)).toMatchObject({ kind: "done", afterMs: undefined });
    },
  );
});

describe("what a handler throws", () => {
  test("a cancellation is success, even while nobody stops", () => {
    const stopped = AbortSignal.abort("any reason");
    expect(judge(new DOMException("stop", "AbortError"))).toMatchObject({ kind: "done", clearsBackoff: true });
    expect(judge("any reason", stopped)).toMatchObject({ kind: "done" });
    expect(judge("any reason")).toMatchObject({ kind: "failed" });
  });

  test("a requeue without a failure is success with a time", () => {
    expect(judge(new RequeueError(100))).toEqual({ kind: "requeued", afterMs: 100, clearsBackoff: true });
    expect(judge(new RequeueError(0))).toMatchObject({ kind: "done", afterMs: undefined });
  });

  test("a requeue with a failure fails at a time of its own and leaves the backoff alone", () => {
    const failure = new Error("broken");
    const expected = { kind: "failed", afterMs: 100, clearsBackoff: false, error: failure };
    expect(judge(new RequeueError(100, failure))).toEqual(expected);
    expect(judge(new Error("outer", { cause: new RequeueError(100, failure) }))).toEqual(expected);
    expect(judge(new RequeueError(0, failure))).toEqual({ ...expected, afterMs: undefined });
  });

  test("several errors at once are a skip or a requeue when each of them is, and else a failure", () => {
    const skipped = new Error("outer", { cause: new SkipError("not yet") });
    const broken = new Error("broken");
    const several = (...errors: readonly unknown[]) => new Error("outer", { cause: new AggregateError(errors) });
    expect(judge(several(skipped, new SkipError("nor this")))).toMatchObject({ kind: "skipped", reason: "not yet" });
    expect(judge(several(new RequeueError(100), new RequeueError(200)))).toMatchObject({
      kind: "requeued",
      afterMs: 100,
    });
    for (const mixed of [several(skipped, broken), several(broken, new RequeueError(100)), several()]) {
      expect(judge(mixed)).toMatchObject({ kind: "failed", error: mixed, clearsBackoff: false });
    }
    const disposal = new SuppressedError(new SkipError("one"), new SkipError("two"));
    expect(judge(disposal)).toMatchObject({ kind: "skipped", reason: "one" });
    expect(judge(new SuppressedError(broken, new SkipError("two")))).toMatchObject({ kind: "failed" });
  });

  test("a skip is found through layers of errors; inside a requeue it keeps the time", () => {
    const wrapped = new Error("outer", { cause: new Error("middle", { cause: new SkipError("not yet") }) });
    expect(judge(wrapped)).toMatchObject({
      kind: "skipped",
      reason: "not yet",
      afterMs: undefined,
      clearsBackoff: true,
    });
    expect(judge(new RequeueError(100, wrapped))).toMatchObject({ kind: "skipped", afterMs: 100 });
  });

  test.for([["a text"], [undefined], [null], [{ message: "no error" }]])(
    "%s becomes an error that says who threw it",
    ([thrown]) => {
      const { kind, error } = judge(thrown);
      expect(kind).toBe("failed");
      expect(error).toBeInstanceOf(Error);
      expect(error?.message).toContain("the handler");
      expect(error?.stack).toBeDefined();
    },
  );
});
