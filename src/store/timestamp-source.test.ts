import { expect, test } from "vitest";
import { TimestampSource } from "./timestamp-source.ts";

test("a time is written as it comes back from the wire and from a file", () => {
  let now = 1_700_000_000_000;
  const source = new TimestampSource({ now: () => now } as ConstructorParameters<typeof TimestampSource>[0]);
  expect(source.now()).toBe("2023-11-14T22:13:20Z");
  now += 120;
  expect(source.now()).toBe("2023-11-14T22:13:20.120Z");
});
