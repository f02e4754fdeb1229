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
      listen: undefined,
    });
  });

  test("paths are relative to where the user stands", () => {
    const options = ["--state-dir", "state", "--no-tui", "--log-level", "debug", "--listen", "unix:socket"];
    expect(parseCommandLine(["mine", ...options], "/here")).toEqual({
      kind: "run",
      folder: "/here/mine",
      stateFolder: "/here/state",
      table: false,
      logLevel: "debug",
      listen: "unix:/here/socket",
    });
  });

  test("the state is served somewhere, or nowhere", () => {
    expect(parseCommandLine(["--listen", "tcp:127.0.0.1:0"], "/")).toMatchObject({ listen: "tcp:127.0.0.1:0" });
    expect(parseCommandLine(["--listen", "none"], "/")).toMatchObject({ listen: "" });
    expect(parseCommandLine(["--listen", "here"], "/")).toMatchObject({
      kind: "mistake",
      message: "--listen must be unix:PATH, tcp:HOST:PORT or none, got here",
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
