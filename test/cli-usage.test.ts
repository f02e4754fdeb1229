import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Interrupted } from "../src/cli/host.ts";
import { describedState, runOn, type FakeHost, type Outcome } from "./cli-fixture.ts";

let folder: string;
const state = await describedState();
const run = (line: string, host: FakeHost = {}): Promise<Outcome> =>
  runOn(state, line === "" ? [] : line.split(" "), { cwd: folder, env: { XDG_RUNTIME_DIR: folder }, ...host });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-usage-"));
  await writeFile(join(folder, "broken.ts"), "export default {");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the command line", () => {
  test("help and version go to standard output", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("Exit codes:") });
    expect(await run("help get")).toMatchObject({ code: 0, stdout: expect.stringContaining("--selector") });
    expect(await run("get --help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--selector") });
    expect((await run("--version")).stdout).toMatch(/^\d+.\d+.\d+\n$/);
  });

  test.each([
    ["", /^Usage:/],
    ["gte", /Did you mean get/],
    ["get", /missing required argument 'type'/],
    ["get svc --nope", /unknown option '--nope'/],
    ["get svc --timeout soon", /a time such as/],
    ["get svc --cert x", /--cert and --key belong together/],
    ["get svc --ca nowhere.pem", /nowhere.pem cannot be read/],
    ["get svc --endpoint nowhere", /unix:PATH or tcp:HOST:PORT/],
    ["get svc --node a,,b", /--node is empty/],
    ["get svc --color sometimes", /--color/],
    ["completion tcsh", /bash, zsh or fish/],
    ["apply", /--filename/],
    ["serve --listen unix:s", /--state/],
    ["serve --state postgres://x --listen unix:s", /no state called "postgres:\/\/x"; there is memory, sqlite/],
    ["serve --state memory:x --listen unix:s", /takes nothing after its name/],
    ["serve --state memory --listen s", /unix:PATH or tcp:HOST:PORT/],
    ["serve --state memory --listen unix:s --cert c", /--cert and --key/],
    ["serve --state memory --listen unix:s --client-ca c", /--client-ca needs/],
    ["serve --state memory --listen unix:s --token-file nowhere", /nowhere cannot be read/],
    ["serve --state memory --listen unix:s --log-level loud", /--log-level/],
    ["run nowhere.ts", /nowhere.ts cannot be read/],
    ["run", /homeostat.config.ts cannot be read/],
    ["run --stop-timeout soon", /a time such as/],
  ])("%j is a mistake", async (line, reason) => {
    const { code, stdout, stderr } = await run(line);
    expect(stderr).toMatch(reason);
    expect([code, stdout]).toEqual([2, ""]);
  });

  test("a configuration that cannot be loaded is a failure", async () => {
    expect(await run("run broken.ts")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("broken.ts cannot be loaded"),
    });
  });

  test("a token is not sent where others can read it", async () => {
    const { openState } = await import("../src/cli/connect/open-state.ts");
    const open = (endpoint: Parameters<typeof openState>[0]) =>
      openState(endpoint, { isTerminal: false, write: async () => {} });
    expect(await run("get svc --endpoint tcp:example.com:1 --token t", { open })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("TLS"),
    });
  });

  test.each(["bash", "zsh", "fish"])("there is a completion script for %s", async (shell) => {
    const { code, stdout } = await run(`completion ${shell}`);
    expect(code).toBe(0);
    expect(stdout).toContain("homeostat __complete -- ");
  });
});

describe("serve", () => {
  test("ends with 0 when it is told to, and leaves nothing", async () => {
    const end = new AbortController();
    const stop = (): void => end.abort(new Interrupted(130, "Ctrl-C"));
    const line = "serve --state memory --listen unix:s --listen tcp:127.0.0.1:0";
    const { code, stdout, stderr } = await run(line, {
      signal: end.signal,
      onNote: (text) => text.includes("tcp:") && stop(),
    });
    expect(stderr).toMatch(/^homeostat: serving memory at unix:.*\nhomeostat: serving memory at tcp:.*:[1-9]\d*\n$/);
    expect([code, stdout]).toEqual([0, ""]);
  });

  test("refuses a public address without TLS, unless told otherwise, and a place that is taken", async () => {
    expect(await run("serve --state memory --listen tcp:0.0.0.0:0")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^homeostat: refusing to listen on tcp:0\.0\.0\.0:0 .*--cert.*--allow-insecure.*\n$/,
      ),
    });
    const end = new AbortController();
    let second: Promise<Outcome> | undefined;
    const first = await run("serve --state memory --listen unix:taken --listen tcp:0.0.0.0:0 --allow-insecure", {
      signal: end.signal,
      onNote: (text) => {
        if (second !== undefined || !text.includes("tcp:")) return;
        second = run("serve --state memory --listen unix:taken");
        void second.then(() => end.abort(new Interrupted(130, "Ctrl-C")));
      },
    });
    expect(first.code).toBe(0);
    expect(await second).toMatchObject({ code: 1, stderr: expect.stringMatching(/^homeostat: .*another server.*\n$/) });
  });
});
