import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { sealDictionary } from "../metadata/dictionary.ts";
import {
  equal,
  exists,
  LabelOperator,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  matchesLabels,
  not,
  oneOf,
  type LabelQuery,
} from "./label-query.ts";
import { formatLabelQuery, parseLabelSelector } from "./label-selector.ts";
import { StateError } from "../state-error.ts";

describe("parseLabelSelector", () => {
  test.for<[string, LabelQuery]>([
    ["", []],
    ["   ", []],
    ["app", [exists("app")]],
    ["!app", [not(exists("app"))]],
    ["app=web", [equal("app", "web")]],
    ["app == web", [equal("app", "web")]],
    ["app!=web", [not(equal("app", "web"))]],
    ["app=", [equal("app", "")]],
    ["app=,tier", [equal("app", ""), exists("tier")]],
    ["tier in (front, back)", [oneOf("tier", "front", "back")]],
    ["tier notin (front)", [not(oneOf("tier", "front"))]],
    ["tier in ()", [oneOf("tier")]],
    ["in in (in)", [oneOf("in", "in")]],
    ["size<10", [lessThanNumeric("size", "10")]],
    ["size<=4GiB", [lessOrEqualNumeric("size", "4GiB")]],
    ["size > -1", [not(lessOrEqualNumeric("size", "-1"))]],
    ["size>=0", [not(lessThanNumeric("size", "0"))]],
    ["name lt m", [lessThan("name", "m")]],
    ["name ge m", [not(lessThan("name", "m"))]],
    ['"a.b"="c,\\"d\\u0041"', [equal("a.b", 'c,"dA')]],
  ])("reads %s", ([selector, query]) => {
    expect(parseLabelSelector(selector)).toEqual(query);
  });

  test("joins conditions with commas", () => {
    expect(parseLabelSelector("app=web,tier in (a,b),!old,size<10,x!=y,example.dev/größe")).toEqual([
      equal("app", "web"),
      oneOf("tier", "a", "b"),
      not(exists("old")),
      lessThanNumeric("size", "10"),
      not(equal("x", "y")),
      exists("example.dev/größe"),
    ]);
  });

  test.for([
    [",", 'character 1: expected a label key, got ","'],
    ["a,", "character 3: expected a label key, got the end"],
    ["=web", 'character 1: expected a label key, got "="'],
    ["a b", 'character 3: expected an operator such as =, !=, in, notin, <, lt, got "b"'],
    ["a=b c", 'character 5: expected "," or the end, got "c"'],
    ["a<", 'character 3: expected a value after "<", got the end'],
    ["a lt ,b", 'character 6: expected a value after "lt", got ","'],
    ["a in b", 'character 6: expected "(", got "b"'],
    ["a in (b", 'character 8: expected ")", got the end'],
    ["a in (b,)", 'character 9: expected a value, got ")"'],
    ["a=$", 'character 3: unexpected "$"; texts with special characters stand in double quotes'],
    ['a="b', "character 3: a quoted text without its end"],
    ['a="\\x"', "is no JSON string"],
    ["!!a", 'character 2: expected a label key, got "!"'],
  ] as const)("says what is wrong with %s", ([selector, message]) => {
    expect(() => parseLabelSelector(selector)).toThrow(StateError);
    expect(() => parseLabelSelector(selector)).toThrow(message);
  });

  test("refuses what is too long or no text", () => {
    expect(() => parseLabelSelector("a".repeat(10_001))).toThrow("at most 10000 characters");
    expect(() => parseLabelSelector(1 as never)).toThrow(StateError);
  });

  property.prop(
    [
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(fc.constantFrom(...'ab=!<>(),"\\ in'.split("")), { maxLength: 30 }).map((parts) => parts.join("")),
      ),
    ],
    {
      numRuns: 2000,
    },
  )("throws nothing but a StateError, whatever comes", (text) => {
    try {
      expect(Array.isArray(parseLabelSelector(text))).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(StateError);
    }
  });

  test("takes time linear in the length", () => {
    for (const text of [
      '"'.repeat(9_999),
      "!".repeat(9_999),
      "a in (".repeat(1_600),
      "\\".repeat(9_999),
      `"${"\\".repeat(9_000)}`,
    ]) {
      expect(() => parseLabelSelector(text)).toThrow(StateError);
    }
    expect(parseLabelSelector(Array.from({ length: 3_000 }, () => "a").join(","))).toHaveLength(3_000);
  });
});

describe("formatLabelQuery", () => {
  test("writes what people would write", () => {
    const selector = "app=web,tier in (a,b),!old,size<10,x!=y,n>4GiB,m lt z,k gt z";
    expect(formatLabelQuery(parseLabelSelector(selector))).toBe(selector);
    expect(formatLabelQuery([equal("a b", "")])).toBe('"a b"=""');
  });

  const word = fc.oneof(fc.constantFrom("", "a", "b", "1", "in", " ", '"', "\\", "a,b", "é", "😀", "\n"), fc.string());
  const key = fc.oneof(fc.constantFrom("a", "b", "in", "é", "app.example/x"), fc.stringMatching(/^[\w./:@+*~-]{1,9}$/));
  const term = fc.record({
    key,
    operator: fc.constantFrom(...Object.values(LabelOperator)),
    values: fc.array(word, { maxLength: 2 }),
    invert: fc.boolean(),
  });
  property.prop([fc.array(term, { maxLength: 3 }), fc.dictionary(key, word, { maxKeys: 4 })], { numRuns: 2000 })(
    "reads back to a query that matches the same",
    (query, entries) => {
      const again = parseLabelSelector(formatLabelQuery(query));
      const dictionary = sealDictionary({
        ...entries,
        ...Object.fromEntries(query.map(({ key, values }) => [key, values[0] ?? "x"])),
      });
      for (const labels of [sealDictionary(entries), dictionary, sealDictionary({})]) {
        expect(matchesLabels(again, labels)).toBe(matchesLabels(query, labels));
      }
    },
  );
});
