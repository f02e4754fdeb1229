import { describe, expect, test } from "vitest";
import { compilePath, formatFound } from "./path-query.ts";
import { toJsonPath } from "./print-path.ts";

const DATA = {
  metadata: { labels: { "app.io/name": "shop" } },
  spec: {
    "a-b": 1,
    big: 12_345_678_901_234_567_890n,
    list: [{ x: "1", y: 2 }, { x: "2" }],
    bytes: new Uint8Array([1, 2]),
  },
};
const find = async (path: string): Promise<readonly unknown[]> => (await compilePath(path))(DATA);

describe("toJsonPath", () => {
  test.each([
    ["$.spec.size", "$.spec.size"],
    ["{$.spec.size}", "$.spec.size"],
    ["{.spec.size}", "$.spec.size"],
    [" { .spec.size } ", "$.spec.size"],
    ["{@.spec}", "$.spec"],
    [".spec.size", "$.spec.size"],
    ["spec.size", "$.spec.size"],
    ["{.}", "$"],
    ["{.aliases[:]}", "$.aliases[:]"],
    ["{.items[*].name}", "$.items[*].name"],
    ["{.items[-1:]}", "$.items[-1:]"],
    ["{.*}", "$.*"],
    ["{..name}", "$..name"],
    ["{..*}", "$..*"],
    ["{..[0]}", "$..[0]"],
    ["{.a-b.c}", '$["a-b"].c'],
    ["{..a-b}", '$..["a-b"]'],
    ["{.labels.app\\.io/name}", '$.labels["app.io/name"]'],
    ['{.items[?(@.name=="a]b")].size}', '$.items[?(@.name=="a]b")].size'],
    ["{.items[?(@.tags[0]=='x')]}", "$.items[?(@.tags[0]=='x')]"],
    ["{['spec']['a.b']}", "$['spec']['a.b']"],
  ])("%s is %s", (path, expected) => {
    expect(toJsonPath(path)).toBe(expected);
  });

  test.each([
    ["{range .items[*]}{.name}{end}", "range and end"],
    ["{end}", "range and end"],
    ["name: {.name}", "text around"],
    ["{.a}{.b}", "several parts"],
    ["{.a} {.b}", "several parts"],
    ['{"\\n"}', "text in braces"],
    ["{.a..}", "missing at its end"],
    ["{.a.}", "missing at its end"],
    ["{.a[0}", 'no "]"'],
    ["{.a[0]b}", 'a "." or "["'],
    ["{.a b}", "no name"],
    ["{.a", "text around"],
    [`{.${"a".repeat(2000)}}`, "at most 1000 characters"],
  ])("%s: %s", (path, reason) => {
    expect(() => toJsonPath(path)).toThrow(reason);
  });
});

describe("compilePath", () => {
  test("finds everything in the order of the document", async () => {
    expect(await find("{.spec.list[*].x}")).toEqual(["1", "2"]);
    expect(await find("{.spec.list[?(@.x=='2')]}")).toEqual([{ x: "2" }]);
    expect(await find("{.spec.a-b}")).toEqual([1]);
    expect(await find("{.metadata.labels.app\\.io/name}")).toEqual(["shop"]);
    expect(await find("{.spec.missing.more}")).toEqual([]);
  });

  test("no digit of a large number is lost, and bytes are base64", async () => {
    expect(await find("{.spec.big}")).toEqual(["12345678901234567890"]);
    expect(await find("{.spec.bytes}")).toEqual(["AQI="]);
  });

  test("what is no path is a mistake of the command line", async () => {
    await expect(compilePath("$.a[")).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("$.a[") });
  });

  test("a path from elsewhere may not bring a pattern, which may take forever", async () => {
    const path = "$.list[?search(@.x, '(a+)+$')]";
    await expect(compilePath(path, true)).rejects.toMatchObject({ exitCode: 2 });
    await expect(compilePath(path)).resolves.toBeTypeOf("function");
  });

  test("found texts are shown as they are, everything else as JSON", () => {
    expect(["a b", 1, null, { a: [true] }].map(formatFound)).toEqual(["a b", "1", "null", '{"a":[true]}']);
  });
});
