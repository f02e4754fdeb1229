import { describe, expect, test } from "vitest";
import { labelKeyMistake } from "./label-key.ts";
import { parseLabelSelector } from "./label-selector.ts";
import { createResource } from "../resource.ts";
import { TypeRegistry } from "../type/type-registry.ts";

const admit = (key: string): unknown =>
  new TypeRegistry().admit(createResource({ namespace: "n", type: "T", id: "a", labels: { [key]: "x" } }, {}));

const GOOD = ["a", "__proto__", "app.example.dev/name", "größe", "क्षेत्र", "a:b@c+d*e~f-", "in", "x".repeat(317)];
const BAD: readonly (readonly [string, RegExp])[] = [
  ["", /must not be empty/],
  ["a b", /letters, digits and .*got "a b"/],
  ["a=b", /letters/],
  ["a,b", /letters/],
  ["!a", /letters/],
  ["a\nb", /letters/],
  ['"', /letters/],
  ["\ud800", /letters/],
  ["x".repeat(318), /at most 317 characters/],
];

describe("the key of a label", () => {
  test.each(GOOD)("%j is stored, and can be asked for as it is", (key) => {
    expect(labelKeyMistake(key)).toBeUndefined();
    expect(admit(key)).toMatchObject({ metadata: { labels: { [key]: "x" } } });
    expect(parseLabelSelector(key)).toMatchObject([{ key, operator: "exists" }]);
  });

  test.each(BAD)("%j is neither stored nor asked for", (key, reason) => {
    expect(labelKeyMistake(key)).toMatch(reason);
    expect(() => admit(key)).toThrow(reason);
    expect(() => parseLabelSelector(`${JSON.stringify(key)}=x`)).toThrow(reason);
  });

  test("annotations are not asked for, and may have any key", () => {
    const resource = createResource({ namespace: "n", type: "T", id: "a", annotations: { "a b": "x" } }, {});
    expect(new TypeRegistry().admit(resource)).toBe(resource);
  });
});
