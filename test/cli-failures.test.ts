import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { runInNewContext } from "node:vm";
import { StateError } from "homeostat";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";
import { describedState, lent, runOn, Service, type Outcome } from "./cli-fixture.ts";

const ROOT = resolve(import.meta.dirname, "..");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-failures-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(args: readonly string[], stdio: "pipe" | number = "pipe"): Promise<Outcome> {
  const child = spawn(process.execPath, ["--conditions=source", join(ROOT, "src/cli.ts"), ...args], {
    cwd: folder,
    env: childEnvironment({ XDG_RUNTIME_DIR: folder }),
    stdio: ["ignore", stdio, "pipe"],
  });
  const outputs = Promise.all([child.stdout === null ? "" : text(child.stdout), text(child.stderr ?? process.stdin)]);
  const [code] = (await once(child, "close")) as [number];
  const [stdout, stderr] = await outputs;
  return { code, stdout, stderr };
}

/** One line for a person, and no frame of a stack. */
function expectOneLine({ stderr }: Outcome, reason: RegExp): void {
  expect(stderr).toMatch(reason);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr.trim().split("\n")).toHaveLength(1);
}

describe("a configuration that cannot be used", () => {
  test.each([
    ["syntax.ts", "export default {\n  a: [\n};\n", /syntax.ts cannot be loaded: syntax.ts:3: Expression expected/],
    ["enum.ts", "enum A { B }\nexport default 1;\n", /enum.ts:1: TypeScript enum is not supported/],
    ["undefined.ts", "const a = 1;\nmissing(a);\n", /undefined.ts:2: missing is not defined/],
    ["import.ts", 'import "./nowhere.ts";\n', /import.ts cannot be loaded: Cannot find module .*nowhere.ts/],
    ["text.ts", 'throw "a text";\n', /text.ts cannot be loaded: .*"a text"/],
    ["nothing.ts", "throw undefined;\n", /nothing.ts cannot be loaded: .*undefined/],
    ["bare.ts", "throw Object.create(null);\n", /bare.ts cannot be loaded: .*threw/],
    ["proxy.ts", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;\n", /cannot be loaded: ./],
    [
      "plane.ts",
      'import { defineControlPlane } from "homeostat";\nexport default defineControlPlane({ resource: [] });\n',
      /./,
    ],
    ["other.ts", "export default 1;\n", /exports no control plane/],
  ])("%s", async (file, source, reason) => {
    await writeFile(join(folder, file), source);
    const outcome = await run(["run", file]);
    expect([outcome.code, outcome.stdout]).toEqual([file === "other.ts" ? 2 : 1, ""]);
    expectOneLine(outcome, reason);
  });

  test("a folder, and a file that is not there", async () => {
    expectOneLine(await run(["run", "."]), /is a folder/);
    expectOneLine(await run(["run", "nowhere.ts"]), /nowhere.ts cannot be read/);
  });

  test("what is thrown later, where nothing catches it, is told as shortly", async () => {
    const source = (thrown: string): string =>
      `setTimeout(() => {\n  throw ${thrown};\n}, 1);\nawait new Promise(() => {});\n`;
    await writeFile(join(folder, "late.ts"), source('new Error("too late")'));
    const outcome = await run(["run", "late.ts"]);
    expect(outcome.code).toBe(1);
    expectOneLine(outcome, /late.ts:2: too late/);
    await writeFile(join(folder, "rejected.ts"), "void Promise.reject(null);\nawait new Promise(() => {});\n");
    expectOneLine(await run(["run", "rejected.ts"]), /null/);
  });
});

describe("an output that cannot be written", () => {
  test("a full disk is a failure, and no reader that went away", async () => {
    const full = await open("/dev/full", "w");
    try {
      const outcome = await run(["--help"], full.fd);
      expect(outcome.code).toBe(1);
      expectOneLine(outcome, /the output cannot be written: ENOSPC/);
    } finally {
      await full.close();
    }
  });
});

describe("what a State says", () => {
  const failing = async (error: unknown): Promise<Outcome> => {
    const state = await describedState();
    const broken = new Proxy(lent(state), {
      get: (target, key) => (key === "get" ? () => Promise.reject(error as Error) : Reflect.get(target, key)),
    });
    return runOn(broken, ["get", "svc", "web"]);
  };

  test("names no version that there is not", async () => {
    expect((await failing(new StateError("not_found", "T(n/a@undefined) doesn't exist"))).stderr).toBe(
      "homeostat: T(n/a) doesn't exist\n",
    );
    const state = await describedState();
    expect((await runOn(state, ["get", "svc", "nobody"])).stderr).not.toContain("undefined");
  });

  test("says who owns what, and in whose name the write was", async () => {
    const state = await describedState();
    await state.create(Service.create("owned", { command: [] }), { owner: "C" });
    const { stderr } = await runOn(state, ["label", "svc", "owned", "a=1"]);
    expect(stderr).toMatch(/is owned by "C", and the write names no owner; --owner NAME/);
    expect((await runOn(state, ["label", "svc", "owned", "a=1", "--owner", "D"])).stderr).toMatch(/name of "D"/);
  });

  test.each([["a text"], [undefined], [null], [Symbol("s")], [Object.create(null)], [{ message: 1 }]])(
    "anything thrown is one line: %#",
    async (thrown) => {
      const outcome = await failing(thrown);
      expect(outcome.code).toBe(1);
      expectOneLine(outcome, /^homeostat: ./);
    },
  );

  test("a bug of ours comes with the lines that its report needs", async () => {
    const { inOurCode } = await import("./fixtures/bug.ts");
    expect((await failing(inOurCode())).stderr).toMatch(/^homeostat: boom \(a bug in homeostat.*\)\n {4}at /);
    expectOneLine(await failing(new Error("not ours")), /^homeostat: not ours\n$/);
  });
});

describe("the published command", () => {
  /** Runs it as a Node of this version would. */
  async function launch(version: string): Promise<{ readonly told: string; readonly loaded: readonly string[] }> {
    const source = stripTypeScriptTypes(await readFile(join(ROOT, "src/bin.cts"), "utf8"));
    let told = "";
    const loaded: string[] = [];
    const process = { versions: { node: version }, stderr: { write: (part: string) => (told += part) } };
    const code = source.replace(/^#!.*/, "");
    runInNewContext(code, { process, require: (name: string) => loaded.push(name) });
    return { told, loaded };
  }

  test.each(["0.12.18", "12.22.12", "20.20.0", "22.17.1"])("Node %s is told in one line", async (version) => {
    const { told, loaded } = await launch(version);
    expect(told).toBe(`homeostat needs Node 22.18 or later; this is ${version}\n`);
    expect(loaded).toEqual([]);
  });

  test.each(["22.18.0", "22.100.0", "24.0.0", "100.0.0"])("Node %s loads the rest", async (version) => {
    expect(await launch(version)).toEqual({ told: "", loaded: ["./cli.js"] });
  });

  test("says nothing that an old Node cannot parse", async () => {
    const source = await readFile(join(ROOT, "src/bin.cts"), "utf8");
    expect(source).not.toMatch(/=>|`|\b(?:let|const|class|import|export|async|await)\b(?!.*\/\/)|\?\.|\?\?|\.\.\./);
  });
});
