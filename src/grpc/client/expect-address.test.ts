import { expect, test } from "vitest";
import { Int } from "../../testing/index.ts";
import { expectKind, expectPointer } from "./expect-address.ts";

const one = Int.create("one", { value: 1 });
const { namespace, type } = Int;

test("what a server gives for another resource, type or namespace is refused, and named", () => {
  expect(expectPointer(one, Int.ref("one"))).toBe(one);
  expect(expectKind(one, { namespace, type })).toBe(one);
  const refusal = (message: string) => expect.objectContaining({ code: "invalid", message });
  expect(() => expectPointer(one, Int.ref("two"))).toThrow(
    refusal("the server gave test/int(default/one) instead of test/int(default/two)"),
  );
  expect(() => expectPointer(one, { namespace: "other", type, id: "one" })).toThrow(
    refusal("the server gave test/int(default/one) instead of test/int(other/one)"),
  );
  expect(() => expectKind(one, { namespace, type: "T" })).toThrow(
    refusal('the server gave test/int(default/one), which is not one of T in "default"'),
  );
  expect(() => expectKind(one, { namespace: "other", type })).toThrow(
    refusal('the server gave test/int(default/one), which is not one of test/int in "other"'),
  );
});
