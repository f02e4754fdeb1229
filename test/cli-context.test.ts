import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Endpoint } from "../src/cli/host.ts";
import { describedState, runOn, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";

const state = await describedState();
await state.create(Service.create("web", { command: [] }));
await state.create(Service.in("lab").create("bench", { command: [] }));

let folder: string;
let file: string;
let asked: Endpoint[];
const run = (line: string, host: FakeHost = {}): Promise<Outcome> =>
  runOn(state, line.split(" "), {
    cwd: folder,
    env: { XDG_CONFIG_HOME: folder, XDG_RUNTIME_DIR: folder },
    ...host,
    open: (endpoint) => {
      asked.push(endpoint);
      return state;
    },
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-context-"));
  file = join(folder, "homeostat", "contexts.json");
  asked = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("contexts", () => {
  test("are added, listed, used and removed", async () => {
    expect(await run("context list")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("add") });
    expect(await run("context add lab --endpoint tcp:lab:1 --tls --node a --node b")).toEqual({
      code: 0,
      stdout: "lab added\n",
      stderr: "",
    });
    expect((await run("context add home --endpoint unix:s --token-file t --use")).stdout).toContain("current");
    expect((await run("context list")).stdout.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["CURRENT", "NAME", "ENDPOINT", "NODE", "TLS"],
      ["*", "home", `unix:${join(folder, "s")}`, "no"],
      ["lab", "tcp:lab:1", "a,b", "yes"],
      [""],
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await run("context use lab")).stdout).toBe("lab is the current context\n");
    expect((await run("context remove lab")).stdout).toBe("lab removed\n");
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      contexts: { home: { tokenFile: join(folder, "t") } },
    });
  });

  test("say where commands go, unless an address does", async () => {
    await writeFile(join(folder, "t"), "secret\n");
    await run("context add home --endpoint unix:s --token-file t --use");
    await run("context add lab --endpoint tcp:lab:1 --server-name lab.example");
    await run("get svc");
    await run("get svc --context lab --node n");
    await run("get svc --endpoint unix:x");
    await run("get svc", { env: { XDG_CONFIG_HOME: folder, HOMEOSTAT_ENDPOINT: "tcp:other:1" } });
    await run("get svc", { env: { XDG_CONFIG_HOME: folder, HOMEOSTAT_CONTEXT: "lab" } });
    expect(asked).toMatchObject([
      { address: `unix:${join(folder, "s")}`, context: "home", token: "secret", tls: undefined },
      { address: "tcp:lab:1", context: "lab", node: "n", token: undefined, tls: { servername: "lab.example" } },
      { address: `unix:${join(folder, "x")}`, token: undefined },
      { address: "tcp:other:1", token: undefined },
      { address: "tcp:lab:1", context: "lab" },
    ]);
  });

  test.each([
    ["get svc --context lob", 3, /no context called "lob"; did you mean lab\?/],
    ["get svc --context lab --endpoint unix:x", 2, /exclude each other/],
    ["context use nowhere", 3, /there are lab/],
    ["context remove nowhere", 3, /no context/],
    ["context add lab --endpoint unix:x", 4, /--overwrite/],
    ["context add other", 2, /--endpoint is missing/],
    ["context add other --endpoint nowhere", 2, /unix:PATH/],
    ["context add a/b --endpoint unix:x", 2, /letters, digits/],
    ["context add other --endpoint unix:x --token t", 2, /--token-file/],
    ["context add other --endpoint unix:x --cert c", 2, /belong together/],
  ])("%s is refused", async (line, code, reason) => {
    await run("context add lab --endpoint tcp:lab:1");
    expect(await run(line)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(reason) });
  });

  test.each([
    ["{", /contexts.json cannot be read: .*JSON/],
    ["[]", /the file must be an object/],
    ['{"contexts":{"lab":{}}}', /contexts\.lab\.endpoint: is missing/],
    ['{"contexts":{"lab":{"endpoint":"unix:x","tsl":true}}}', /contexts\.lab\.tsl: is not a known field/],
    ['{"contexts":{},"curent":"x"}', /curent is not a known field/],
  ])("a file that holds %s costs those who need it, by name and place", async (text, reason) => {
    await mkdir(join(folder, "homeostat"));
    await writeFile(file, text);
    const outcome = await run("get svc");
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(reason) });
    expect(outcome.stderr.trim().split("\n")).toHaveLength(1);
    expect((await run("get svc --endpoint unix:x")).code).toBe(0);
  });

  test("without a folder for configuration there are none, and none can be kept", async () => {
    expect((await run("get svc", { env: { XDG_RUNTIME_DIR: folder } })).code).toBe(0);
    expect(await run("context add lab --endpoint unix:x", { env: {} })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("XDG_CONFIG_HOME"),
    });
  });
});

describe("flags before the command", () => {
  test("count as those after it, and those after it count more", async () => {
    expect((await run("-n lab --endpoint unix:x get svc -o name")).stdout).toContain("/bench");
    expect((await run("-n lab get svc -n default -o name")).stdout).toContain("/web");
    await run("--node a --node b get svc");
    expect(asked.map(({ node }) => node)).toEqual([undefined, undefined, "a", "b"]);
  });

  test("are refused by a command that has no use for them", async () => {
    expect(await run("-n lab run")).toMatchObject({ code: 2, stderr: "homeostat: run takes no --namespace\n" });
    expect(await run("--endpoint unix:x context list")).toMatchObject({ code: 2 });
  });
});
