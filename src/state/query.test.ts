import { describe, expect, test } from "vitest";
import {
  createMetadata,
  equal,
  exists,
  isConflict,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  not,
  oneOf,
  StateError,
  type LabelQuery,
  type LabelTerm,
} from "../resource/index.ts";
import type { Query } from "./options.ts";
import { compileQuery } from "./query.ts";

const resource = (id: string, labels: Record<string, string> = {}) => ({
  metadata: createMetadata({ namespace: "default", type: "Disks.hw.example", id, labels }),
});

async function matching(query: Query, ...resources: ReturnType<typeof resource>[]): Promise<string[]> {
  const compiled = await compileQuery(query);
  return resources.filter((one) => compiled === undefined || compiled.matches(one)).map((one) => one.metadata.id);
}

describe("compileQuery", () => {
  const a = resource("a", { app: "one", frozen: "" });
  const b = resource("b", { app: "two" });
  const c = resource("c");

  test("needs nothing compiled for a query that matches everything", () => {
    for (const query of [{}, { labels: [] }, { labels: [[]] }, { labels: [[equal("app", "one")], []] }, { ids: "" }]) {
      expect(compileQuery(query)).toBeUndefined();
    }
  });

  test("answers at once when there is no id pattern", () => {
    expect(compileQuery({ labels: [equal("app", "one")] })).not.toBeInstanceOf(Promise);
  });

  test("terms of one query are all needed, of several queries one is enough", async () => {
    expect(await matching({ labels: [equal("app", "one"), exists("frozen")] }, a, b, c)).toEqual(["a"]);
    expect(await matching({ labels: [equal("app", "two"), exists("frozen")] }, a, b, c)).toEqual([]);
    expect(await matching({ labels: [[equal("app", "one")], [equal("app", "two")]] }, a, b, c)).toEqual(["a", "b"]);
  });

  test("an id pattern is searched anywhere and must hold besides the labels", async () => {
    expect(await matching({ ids: "^[ac]$" }, a, b, c)).toEqual(["a", "c"]);
    expect(await matching({ ids: "^[ac]$", labels: [exists("app")] }, a, b, c)).toEqual(["a"]);
    expect(await matching({ ids: "bar" }, resource("foobarbaz"), resource("foo"))).toEqual(["foobarbaz"]);
  });

  test("inverted terms on a missing label, and terms without values [state 184]", async () => {
    const none: string[] = [];
    const matchesMissing = async (term: LabelTerm) => (await matching({ labels: [term] }, c)).length === 1;
    for (const incomparable of [lessThan, lessOrEqual, lessThanNumeric, lessOrEqualNumeric]) {
      expect(await matchesMissing(incomparable("app", "5"))).toBe(false);
      expect(await matchesMissing(not(incomparable("app", "5")))).toBe(false);
      expect(await matchesMissing(not({ ...incomparable("app", "5"), values: none }))).toBe(false);
    }
    for (const absent of [exists("app"), equal("app", "5"), oneOf("app", "5"), oneOf("app")]) {
      expect(await matchesMissing(absent)).toBe(false);
      expect(await matchesMissing(not(absent))).toBe(true);
    }
    for (const operator of [equal, lessThan, lessOrEqual, lessThanNumeric, lessOrEqualNumeric]) {
      const empty = { ...operator("app", "5"), values: none };
      expect(await matching({ labels: [empty] }, a)).toEqual([]);
      expect(await matching({ labels: [not(empty)] }, a)).toEqual(["a"]);
    }
    expect(await matching({ labels: [oneOf("app")] }, a)).toEqual([]);
    expect(await matching({ labels: [not(oneOf("app"))] }, a)).toEqual(["a"]);
  });

  test("does not change when the query object is changed afterwards", async () => {
    const values = ["one"];
    const term = { ...equal("app", "one"), values };
    const compiled = await compileQuery({ labels: [term] });
    values[0] = "two";
    term.key = "other";
    expect(compiled?.matches(a)).toBe(true);
  });

  test.for([
    ["a string", "app", 'must be an array of terms, or an array of such arrays, got "app"'],
    [
      "terms mixed with queries",
      [equal("app", "one"), [exists("app")]],
      "must hold either terms or arrays of terms, not both, got object",
    ],
    ["no term", [null], "must consist of terms such as equal(key, value), got null"],
    [
      "an unknown operator",
      [{ ...exists("app"), operator: 7 }],
      "must have a LabelOperator as the operator of each term, got 7",
    ],
    [
      "an operator that is an inherited name",
      [{ ...exists("app"), operator: "toString" }],
      'must have a LabelOperator as the operator of each term, got "toString"',
    ],
    [
      "values that are no strings",
      [{ ...exists("app"), values: [1] }],
      "must have an array of strings as the values of each term, got object",
    ],
    ["a key that is no string", [{ ...exists("app"), key: 1 }], "must have a string as the key of each term, got 1"],
    [
      "an invert flag that is no boolean",
      [{ ...exists("app"), invert: "no" }],
      'must have true or false as the invert flag of each term, got "no"',
    ],
  ] as const)("refuses %s", ([, labels, text]) => {
    const compile = () => compileQuery({ labels: labels as unknown as LabelQuery });
    expect(compile).toThrow(StateError);
    expect(compile).toThrow(expect.objectContaining({ code: "invalid", message: `a label query ${text}` }));
  });

  test("refuses a pattern that does not compile", async () => {
    const error = await Promise.resolve(compileQuery({ ids: "(" })).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "invalid" });
    expect(isConflict(error)).toBe(false);
  });
});
