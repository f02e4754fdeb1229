import { describe, expect, test } from "vitest";
import { hostileValues } from "./fixtures/hostile-values.ts";
import { findRequeue, findSkip, RequeueError, SkipError } from "../src/controller/index.ts";
import { consoleLogger } from "../src/log/index.ts";
import { hasCode, isConflict, isNotFound } from "../src/resource/index.ts";
import { isGrpcError } from "../src/rpc/index.ts";
import { isCancellation } from "../src/internal/cancellation.ts";
import { describeForeign, messageOf } from "../src/internal/foreign-value.ts";
import { toError } from "../src/internal/to-error.ts";

describe.each(Object.entries(hostileValues))("%s", (_, make) => {
  test("can be turned into an error that anybody may read, as often as they like", () => {
    const error = toError(make(), "it");
    for (let look = 0; look < 2; look++) {
      expect(error).toBeInstanceOf(Error);
      expect(typeof error.name).toBe("string");
      expect(typeof error.message).toBe("string");
      expect(["string", "undefined"]).toContain(typeof error.stack);
    }
  });

  test("has a text", () => {
    expect(typeof messageOf(make())).toBe("string");
    expect(typeof describeForeign(make())).toBe("string");
    expect(typeof new RequeueError(1, make()).message).toBe("string");
  });

  test("is nothing that it does not say it is", () => {
    const wrapped = new Error("outer", { cause: make() });
    for (const thrown of [make(), wrapped]) {
      expect(isCancellation(thrown, AbortSignal.abort("stop"))).toBe(false);
      expect(findSkip(thrown)).toBeUndefined();
      expect(findRequeue(thrown)).toBeUndefined();
      expect(hasCode(thrown, "invalid")).toBe(false);
      expect(isNotFound(thrown)).toBe(false);
      expect(isConflict(thrown, { namespace: "a", type: "b" })).toBe(false);
      expect(isGrpcError(thrown)).toBe(false);
    }
  });

  test("fits in a log line", () => {
    const lines: string[] = [];
    const logger = consoleLogger({ write: (line) => lines.push(line) });
    logger.child({ value: make() }).error("it failed", { error: make(), safe: toError(make(), "it") });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("it failed");
  });
});

test("what a long chain hides is found, with hostile errors on the way", () => {
  const trap = Object.defineProperty(new Error("x", { cause: new SkipError("not yet") }), "message", {
    get() {
      throw new Error("a trap");
    },
  });
  expect(findSkip(new Error("outer", { cause: trap }))?.message).toBe("not yet");
});

test("an error with getters that work is copied, and keeps what it is as the cause", () => {
  class Odd extends Error {
    override get message(): string {
      return "odd";
    }
  }
  const thrown = new Odd();
  const error = toError(thrown, "it");
  expect(error.message).toBe("odd");
  expect(error.cause).toBe(thrown);
  expect(error.stack).toBe(thrown.stack);
});

test("an ordinary error, one of the platform's included, stays itself", () => {
  for (const thrown of [
    new TypeError("x", { cause: 1 }),
    new DOMException("stop", "AbortError"),
    new AggregateError([]),
  ]) {
    expect(toError(thrown, "it")).toBe(thrown);
  }
});

test("a text without end is cut", () => {
  expect(messageOf("x".repeat(1_000_000)).length).toBeLessThan(20_000);
  expect(toError("x".repeat(1_000_000), "it").message.length).toBeLessThan(20_000);
});
