import { describe, expect, test } from "vitest";

import { parseCommandLine } from "./command-line.ts";

describe("command line", () => {
  test("without arguments the shipped manifests run, with a table", () => {
    expect(parseCommandLine([], "/here")).toEqual({
      kind: "run",
      folder: expect.stringMatching(/supervisor\/manifests$/),
      stateFolder: undefined,
      table: true,
      logLevel: "warn",
    });
  });

  test("paths are relative to where the user stands", () => {
    expect(parseCommandLine(["mine", "--state-dir", "state", "--no-tui", "--log-level", "debug"], "/here")).toEqual({
      kind: "run",
      folder: "/here/mine",
      stateFolder: "/here/state",
      table: false,
      logLevel: "debug",
    });
  });

  test("mistakes are told", () => {
    expect(parseCommandLine(["--verbose"], "/")).toMatchObject({
      kind: "mistake",
      message: expect.stringContaining("--verbose"),
    });
    expect(parseCommandLine(["--state-dir"], "/")).toMatchObject({ kind: "mistake" });
    expect(parseCommandLine(["--log-level", "all"], "/")).toMatchObject({
      kind: "mistake",
      message: "--log-level must be one of debug, info, warn, error, got all",
    });
  });
});
