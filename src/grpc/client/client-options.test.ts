import { expect, test } from "vitest";
import { resolveClientOptions } from "./client-options.ts";

test("a client decodes YAML, opens a session and waits a minute, unless told otherwise", () => {
  expect(resolveClientOptions({})).toMatchObject({ yaml: true, session: true, timeoutMs: 60_000 });
  expect(resolveClientOptions({ yaml: false, session: false, timeoutMs: 5 })).toMatchObject({
    yaml: false,
    session: false,
    timeoutMs: 5,
  });
  for (const timeoutMs of [0, -1, Number.NaN]) {
    expect(() => resolveClientOptions({ timeoutMs })).toThrow(`timeoutMs must be more than 0, got ${timeoutMs}`);
  }
});
