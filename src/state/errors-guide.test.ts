import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { StateErrorCode } from "../resource/index.ts";

const guide = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

test("the guide explains each error code in one row, and no other", () => {
  const [, table = ""] = /\n## Codes\n([^]*?)\n## /.exec(guide) ?? [];
  const codes = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(codes).toEqual(Object.values(StateErrorCode));
});
