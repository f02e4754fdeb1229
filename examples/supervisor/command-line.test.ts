import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { parseCommandLine } from "./command-line.ts";

describe("command line", () => {
  beforeEach(() => void vi.spyOn(process.stderr, "write").mockReturnValue(true));
  afterEach(() => vi.restoreAllMocks());

  test("without arguments the shipped manifests run, with a table", () => {
    expect(parseCommandLine([], "/here")).toEqual({
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
    for (const wrong of ["here", "unix:", "nonesuch"]) {
      expect(() => parseCommandLine(["--listen", wrong], "/")).toThrow(
        `argument '${wrong}' is invalid. It must be unix:PATH, tcp:HOST:PORT or none.`,
      );
    }
  });

  test("mistakes are told", () => {
    expect(() => parseCommandLine(["--verbose"], "/")).toThrow("unknown option '--verbose'");
    expect(() => parseCommandLine(["--state-dir"], "/")).toThrow("'--state-dir <folder>' argument missing");
    expect(() => parseCommandLine(["--log-level", "all"], "/")).toThrow(
      "argument 'all' is invalid. Allowed choices are debug, info, warn, error.",
    );
    expect(() => parseCommandLine(["one", "two"], "/")).toThrow("too many arguments");
  });
});
