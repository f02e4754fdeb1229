import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { sealDictionary, type Dictionary } from "../metadata/dictionary.ts";
import {
  equal,
  exists,
  LabelOperator,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  matchesLabels,
  not,
  oneOf,
  type LabelTerm,
} from "./label-query.ts";
import { parseQuantity } from "./quantity.ts";

const labels = (entries: Record<string, string>) => sealDictionary(entries);
const matches = (term: LabelTerm, entries: Record<string, string>) => matchesLabels([term], labels(entries));

describe("matchesLabels", () => {
  test("[transport C15] [state 109] exists asks for the key, whatever the value", () => {
    const entries = { app: "web", empty: "" };
    expect(matches(exists("app"), entries)).toBe(true);
    expect(matches(exists("missing"), entries)).toBe(false);
    expect(matches(not(exists("missing")), entries)).toBe(true);
    expect(matches(not(exists("app")), entries)).toBe(false);
    expect(matches(not(exists("app")), {})).toBe(true);
    expect(matches(exists("app"), {})).toBe(false);
    expect(matches(exists("empty"), entries)).toBe(true);
    expect(matches(not(exists("empty")), entries)).toBe(false);
  });

  test("[transport C15] [state 110] equal asks for this key with this value", () => {
    const entries = { app: "web", tier: "front" };
    expect(matches(equal("app", "web"), entries)).toBe(true);
    expect(matches(equal("app", "db"), entries)).toBe(false);
    expect(matches(equal("app", "front"), entries)).toBe(false);
  });

  test("[transport C15] [state 111] in asks for one of the values", () => {
    expect(matches(oneOf("tier", "front", "back"), { tier: "back" })).toBe(true);
    expect(matches(oneOf("tier", "front", "back"), { tier: "side" })).toBe(false);
  });

  test("[transport C15] [state 112] less or equal compares numbers with units", () => {
    expect(matches(lessOrEqualNumeric("size", "4000000000"), { size: "4GB" })).toBe(true);
    expect(matches(lessOrEqualNumeric("size", "3999999999"), { size: "4GB" })).toBe(false);
  });

  test("[transport C15] [state 113] less than compares numbers with units", () => {
    expect(matches(lessThanNumeric("size", "5368709120"), { size: "5GiB" })).toBe(false);
    expect(matches(lessThanNumeric("size", "5368709121"), { size: "5GiB" })).toBe(true);
  });

  test("[state 114] what cannot be compared never matches, not even inverted", () => {
    for (const compare of [lessThanNumeric, lessOrEqualNumeric]) {
      for (const entries of [{ size: "100" }, {}] as Record<string, string>[]) {
        const value = "size" in entries ? "NaN" : "5";
        expect(matches(compare("size", value), entries)).toBe(false);
        expect(matches(not(compare("size", value)), entries)).toBe(false);
      }
      expect(matches(not(compare("size", "5")), { size: "many" })).toBe(false);
    }
  });

  test("[transport C16] [state 115] all terms of a query must hold", () => {
    const entries = labels({ app: "web", frozen: "" });
    const [holds, fails] = [equal("app", "web"), exists("missing")];
    expect(matchesLabels([holds, exists("frozen")], entries)).toBe(true);
    expect(matchesLabels([holds, fails], entries)).toBe(false);
    expect(matchesLabels([fails, holds], entries)).toBe(false);
    expect(matchesLabels([], entries)).toBe(true);
    expect(matchesLabels([], labels({}))).toBe(true);
  });

  test("[state 184] comparisons of a missing label never match, the other terms do when inverted", () => {
    for (const compare of [lessThan, lessOrEqual, lessThanNumeric, lessOrEqualNumeric]) {
      expect(matches(compare("missing", "1"), { a: "1" })).toBe(false);
      expect(matches(not(compare("missing", "1")), { a: "1" })).toBe(false);
    }
    for (const term of [exists("missing"), equal("missing", "1"), oneOf("missing", "1")]) {
      expect(matches(term, { a: "1" })).toBe(false);
      expect(matches(not(term), { a: "1" })).toBe(true);
    }
    for (const operator of Object.values(LabelOperator)) {
      if (operator === LabelOperator.exists) continue;
      const term: LabelTerm = { key: "a", operator, values: [], invert: false };
      expect(matches(term, { a: "1" })).toBe(false);
      expect(matches(not(term), { a: "1" })).toBe(true);
    }
  });

  test("texts are compared by their UTF-8 bytes", () => {
    expect(matches(lessThan("a", "😀"), { a: "～" })).toBe(true);
    expect(matches(lessOrEqual("a", "～"), { a: "😀" })).toBe(false);
    expect(matches(lessThan("a", "10"), { a: "9" })).toBe(false);
  });

  test("only own keys are labels", () => {
    expect(matches(exists("toString"), {})).toBe(false);
    expect(matchesLabels([exists("toString")], {} as Dictionary)).toBe(false);
    expect(matches(exists("__proto__"), JSON.parse('{ "__proto__": "x" }') as Record<string, string>)).toBe(true);
  });

  test.for([7, -1, 1.5, "equals", undefined])("operator %o is a programming mistake, label or not", (operator) => {
    const term = { key: "a", operator, values: ["1"], invert: false } as unknown as LabelTerm;
    expect(() => matches(term, { a: "1" })).toThrow("unknown label operator");
    expect(() => matches(term, {})).toThrow(RangeError);
  });

  test("terms cannot be changed", () => {
    const term = oneOf("a", "1");
    expect(() => (term.values as string[]).push("2")).toThrow(TypeError);
    expect(Object.isFrozen(not(term))).toBe(true);
  });
});

describe("a model", () => {
  /** Every term as the sets of labels that it holds for: text in, three-valued answer out. */
  const MODEL: {
    readonly [Operator in LabelOperator]: (label: string | undefined, values: readonly string[]) => boolean | null;
  } = {
    [LabelOperator.exists]: (label) => label !== undefined,
    [LabelOperator.equal]: (label, [first]) => label !== undefined && first !== undefined && label === first,
    [LabelOperator.in]: (label, values) => values.some((value) => value === label),
    [LabelOperator.lessThan]: textual((order) => order < 0),
    [LabelOperator.lessOrEqual]: textual((order) => order <= 0),
    [LabelOperator.lessThanNumeric]: numeric((a, b) => a < b),
    [LabelOperator.lessOrEqualNumeric]: numeric((a, b) => a <= b),
  };
  function textual(holds: (order: number) => boolean) {
    return (label: string | undefined, [first]: readonly string[]) => {
      if (label === undefined) return null;
      return first !== undefined && holds(Buffer.compare(Buffer.from(label), Buffer.from(first)));
    };
  }
  function numeric(holds: (a: bigint, b: bigint) => boolean) {
    return (label: string | undefined, [first]: readonly string[]) => {
      if (label === undefined) return null;
      if (first === undefined) return false;
      const [a, b] = [parseQuantity(label), parseQuantity(first)];
      return a === undefined || b === undefined ? null : holds(a, b);
    };
  }
  const text = fc.constantFrom("", "a", "b", "1", "2", "10", "1k", "1Ki", "-1", "x1", "～", "😀");
  const key = fc.constantFrom("a", "b", "c", "__proto__");
  const term = fc.record({
    key,
    operator: fc.constantFrom(...Object.values(LabelOperator)),
    values: fc.array(text, { maxLength: 3 }),
    invert: fc.boolean(),
  });
  const dictionary = fc.dictionary(key, text, { maxKeys: 4 }).map(sealDictionary);

  property.prop([fc.array(term, { maxLength: 3 }), dictionary], { numRuns: 1000 })(
    "agrees with matchesLabels",
    (query, entries) => {
      const expected = query.every(({ key: name, operator, values, invert }) => {
        const answer = MODEL[operator](new Map(Object.entries(entries)).get(name), values);
        return answer === null ? false : answer !== invert;
      });
      expect(matchesLabels(query, entries)).toBe(expected);
    },
  );
});
