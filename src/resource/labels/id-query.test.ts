import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { compileIdQuery } from "./id-query.ts";
import { StateError } from "../state-error.ts";

const matches = async (pattern: string, id: string) => (await compileIdQuery(pattern)).matches(id);

describe("compileIdQuery", () => {
  test("[transport C18] [state 117] no pattern matches everything; a pattern is found anywhere unless it is anchored", async () => {
    for (const id of ["", "web-1"]) expect(await matches("", id)).toBe(true);
    expect(await matches("^web-", "web-1")).toBe(true);
    expect(await matches("^web-", "my-web-1")).toBe(false);
    expect(await matches("eb-", "my-web-1")).toBe(true);
  });

  test.for<[string, string, boolean]>([
    ["(?i)WEB", "my-web", true],
    ["web\\z", "web", true],
    ["web\\z", "web\n", false],
    ["web$", "web\n", false],
    ["^b", "a\nb", false],
    ["(?m)^b", "a\nb", true],
    ["[[:digit:]]{2}", "a12", true],
    ["[[:^alpha:]]", "abc", false],
    ["\\Qa.b\\E", "a.b", true],
    ["\\Qa.b\\E", "axb", false],
    ["\\pL\\p{Greek}", "aλ", true],
    ["^.$", "😀", true],
    ["(?P<name>a)b", "ab", true],
    ["(?s)a.b", "a\nb", true],
    ["(?U)^a+$", "aaa", true],
  ])("speaks RE2: %s on %j", async ([pattern, id, answer]) => {
    expect(await matches(pattern, id)).toBe(answer);
  });

  test.for([
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!a)",
    "(a)\\1",
    "(?>a)",
    "a++",
    "\\Z",
    "(",
    "[",
    "a{2,1}",
    "a{1001}",
    "*",
    "((a{100}){100}){100}",
  ])("refuses %s, and says what it is about", async (pattern) => {
    const error = await compileIdQuery(pattern).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StateError);
    expect(error).toMatchObject({ code: "invalid" });
    expect(String(error)).toContain(`id pattern ${JSON.stringify(pattern)} does not compile`);
  });

  test("refuses patterns that are too long, or no texts", async () => {
    for (const pattern of ["a".repeat(1001), 1 as never, /a/ as never]) {
      await expect(compileIdQuery(pattern)).rejects.toThrow("must be a string of at most 1000 characters");
    }
    await expect(compileIdQuery("(".repeat(1000))).rejects.toThrow(/^.{0,500}$/s);
  });

  // A backtracking engine would need longer than the universe exists.
  test.for<[string, string]>([
    ["(a+)+$", `${"a".repeat(20_000)}b`],
    ["(x+x+)+y", "x".repeat(20_000)],
    ["(a|a)*c", "a".repeat(20_000)],
    [`(?:${"a?".repeat(200)})${"a".repeat(200)}$`, `${"a".repeat(199)}b`],
  ])("%s takes time linear in the id", async ([pattern, id]) => {
    expect(await matches(pattern, id)).toBe(false);
  });

  const piece = fc.constantFrom(
    "a",
    "b",
    "(",
    ")",
    "[",
    "]",
    "*",
    "+",
    "?",
    "{2}",
    "|",
    "^",
    "$",
    ".",
    "\\",
    "d",
    "(?i)",
    "(?=",
    "😀",
    "-",
  );
  property.prop(
    [
      fc.oneof(
        fc.array(piece, { maxLength: 15 }).map((parts) => parts.join("")),
        fc.string({ unit: "binary" }),
      ),
      fc.string(),
    ],
    {
      numRuns: 1000,
    },
  )("throws nothing but a StateError, whatever comes", async (pattern, id) => {
    try {
      expect(typeof (await matches(pattern, id))).toBe("boolean");
    } catch (error) {
      expect(error).toBeInstanceOf(StateError);
    }
  });
});
