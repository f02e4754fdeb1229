import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createResource, ManualClock, MemoryState, OpaqueSpec, StateError, type State } from "homeostat";
import { describeTypes } from "../src/plane/index.ts";
import {
  describedState,
  Job,
  lent,
  opaque,
  runOn,
  Secret,
  Service,
  type FakeHost,
  type Outcome,
} from "./cli-fixture.ts";

let state: MemoryState;
let folder: string;
const run = (line: string, host?: FakeHost): Promise<Outcome> =>
  runOn(state, line.split(" "), { cwd: folder, ...host });
const commandOf = async (id: string): Promise<unknown> => (await state.get(Service.ref(id))).spec;

beforeEach(async () => {
  state = await describedState();
  folder = await mkdtemp(join(tmpdir(), "homeostat-cli-"));
  await state.create(Service.create("web", { command: ["a"] }, { labels: { tier: "front" } }));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("label and annotate", () => {
  test("set, change and remove, and tell what was done", async () => {
    const name = "Services.supervisor.example.dev/web";
    expect(await run("label svc web a=1 b= tier-")).toEqual({ code: 0, stdout: `${name} labeled\n`, stderr: "" });
    expect((await state.get(Service, "web")).metadata.labels).toEqual({ a: "1", b: "" });
    expect((await run("label svc/web a=1 nobody-")).stdout).toBe(`${name} unchanged\n`);
    expect((await state.get(Service, "web")).metadata.version).toBe("2");
    expect((await run("annotate svc web note=x")).stdout).toBe(`${name} annotated\n`);
    expect((await state.get(Service, "web")).metadata.annotations).toEqual({ note: "x" });
  });

  test("another value is changed only with --overwrite", async () => {
    expect(await run("label svc web tier=back")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('is "front"'),
    });
    expect(await run("label svc web tier=back --overwrite")).toMatchObject({ code: 0 });
    expect((await state.get(Service, "web")).metadata.labels["tier"]).toBe("back");
  });

  test("the spec of a type that is not known here stays what it was, byte for byte", async () => {
    const bytes = new Uint8Array([8, 1, 255]);
    await state.create(opaque(Service.create("far", { command: [] }), "command: [x] # kept\n", bytes));
    await run("label svc far a=1");
    const { spec } = await state.get(Service.ref("far"));
    expect(spec).toEqual(new OpaqueSpec({ bytes, yaml: "command: [x] # kept\n" }));
    expect((spec as unknown as OpaqueSpec).bytes).toEqual(bytes);
  });

  test("by selector, all of a type, or those that are named; never by accident", async () => {
    await state.create(Service.create("db", { command: [] }));
    expect((await run("label svc -l tier=front x=1")).stdout.split("\n")).toHaveLength(2);
    expect((await run("label svc --all y=1")).stdout.split("\n")).toHaveLength(3);
    expect(await run("label svc z=1")).toMatchObject({ code: 2, stderr: expect.stringContaining("--all") });
    expect(await run("label svc web --all z=1")).toMatchObject({ code: 2 });
    expect(await run("label svc web")).toMatchObject({ code: 2 });
    expect(await run("label svc web a")).toMatchObject({ code: 2 });
    expect(await run("label svc nobody web a=1")).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("labeled"),
    });
  });

  test("what a controller owns is changed only in its name", async () => {
    await state.create(Service.create("owned", { command: [] }), { owner: "C" });
    expect(await run("label svc owned a=1")).toMatchObject({ code: 4, stderr: expect.stringContaining("--owner") });
    expect(await run("label svc owned a=1 --owner C")).toMatchObject({ code: 0 });
  });

  test("a resource that is torn down can be labelled still", async () => {
    await state.addFinalizer(Service.ref("web"), "F");
    await state.teardown(Service.ref("web"));
    expect(await run("label svc web a=1")).toMatchObject({ code: 0 });
  });
});

describe("delete", () => {
  test("tears down and destroys", async () => {
    expect(await run("delete svc web")).toEqual({
      code: 0,
      stdout: "Services.supervisor.example.dev/web deleted\n",
      stderr: "",
    });
    expect(await state.getOrNull(Service, "web")).toBeUndefined();
    expect(await run("delete svc web")).toMatchObject({ code: 3 });
    expect(await run("delete svc web --ignore-not-found")).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("waits for those who hold it, and says for whom", async () => {
    await state.addFinalizer(Service.ref("web"), "HolderController");
    const outcome = await run("delete svc web", {
      onNote: () => void state.removeFinalizer(Service.ref("web"), "HolderController"),
    });
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining("deleted") });
    expect(outcome.stderr).toBe(
      "homeostat: Services.supervisor.example.dev/web is held by HolderController; waiting\n",
    );
  });

  test("without waiting it is torn down at least", async () => {
    await state.addFinalizer(Service.ref("web"), "F");
    expect(await run("delete svc web --no-wait")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("tearing down"),
    });
    expect((await state.get(Service, "web")).metadata.phase).toBe("tearingDown");
    await state.removeFinalizer(Service.ref("web"), "F");
    expect((await run("delete svc web --no-wait")).stdout).toContain("deleted");
  });

  test("the time for all of it can be limited", async () => {
    await state.addFinalizer(Service.ref("web"), "F");
    await state.addFinalizer(Service.ref("web"), "G");
    await state.create(Service.create("free", { command: [] }));
    const clock = new ManualClock();
    const outcome = run("delete svc web free --timeout 20s", {
      clock,
      onNote: (text) => text.includes("waiting") && void clock.advance(20_000),
      onOutput: () => void clock.advance(1_000),
    });
    expect(await outcome).toEqual({
      code: 6,
      stdout: "Services.supervisor.example.dev/free deleted\n",
      stderr:
        "homeostat: Services.supervisor.example.dev/web is held by F, G; waiting\n" +
        "homeostat: not deleted within 20s: Services.supervisor.example.dev/web is torn down and held by F, G\n",
    });
    expect(clock.pending).toBe(0);
  });

  test("several, by what get -o name prints", async () => {
    await state.create(Service.create("db", { command: [] }));
    await state.create(Secret.create("key", { value: "x" }));
    const names = (await run("get svc,secret -o name")).stdout.trim().split("\n");
    expect(await run(`delete ${names.join(" ")}`)).toMatchObject({ code: 0 });
    expect(await run("get svc,secret -o name")).toMatchObject({ stdout: "" });
  });

  test("nothing is deleted by accident", async () => {
    expect(await run("delete svc")).toMatchObject({ code: 2 });
    expect(await run("delete svc web --all")).toMatchObject({ code: 2 });
    expect(await run("delete svc -l tier=back")).toEqual({
      code: 0,
      stdout: "",
      stderr: "homeostat: no resource is selected\n",
    });
    expect((await run("delete svc --all")).stdout).toContain("web deleted");
  });

  test("what a controller owns is destroyed only in its name", async () => {
    await state.create(Service.create("owned", { command: [] }), { owner: "C" });
    expect(await run("delete svc owned web")).toMatchObject({
      code: 4,
      stdout: expect.stringContaining("web deleted"),
    });
    expect(await run("delete svc owned --owner C")).toMatchObject({ code: 0 });
  });
});

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

describe("apply", () => {
  test("creates, updates, and leaves alone what is as it should be", async () => {
    await write(
      "a.yaml",
      "metadata: { type: svc, id: web, labels: { x: '1' } }\nspec: { command: [b] }\n---\nmetadata: { type: svc, id: new }\nspec: { command: [] }\n",
    );
    expect(await run("apply -f a.yaml")).toEqual({
      code: 0,
      stdout: "Services.supervisor.example.dev/web configured\nServices.supervisor.example.dev/new created\n",
      stderr: "",
    });
    expect(await commandOf("web")).toEqual({ command: ["b"] });
    expect((await state.get(Service, "web")).metadata.labels).toEqual({ tier: "front", x: "1" });
    const { stdout } = await run("apply -f a.yaml");
    expect(stdout).toMatch(/web unchanged\n.*new unchanged\n$/);
    expect((await state.get(Service, "new")).metadata.version).toBe("1");
  });

  test("defaults that the State fills in are no difference, but what the manifest drops is", async () => {
    const checking = new MemoryState({ types: [Job] });
    await describeTypes(checking, [Job], new Map());
    const apply = async (spec: string): Promise<string> =>
      (
        await run("apply -f -", {
          open: () => checking,
          readStdin: async () => `metadata: { type: job, id: a }\nspec: ${spec}`,
        })
      ).stdout;
    expect(await apply("{ size: 1 }")).toContain("created");
    expect((await checking.get(Job, "a")).spec).toEqual({ size: 1, retries: 3 });
    expect(await apply("{ size: 1 }")).toContain("unchanged");
    expect(await apply("{ size: 1, retries: 5 }")).toContain("configured");
    expect(await apply("{ size: 1, retries: 5 }")).toContain("unchanged");
    expect(await apply("{ size: 1 }")).toContain("configured");
    expect((await checking.get(Job, "a")).spec).toEqual({ size: 1, retries: 3 });
  });

  test("a mistake costs one resource, and is told with its place and field", async () => {
    const checking = new MemoryState({ types: [Job] });
    await describeTypes(checking, [Job], new Map());
    await write(
      "bad.yaml",
      `metadata: { type: job, id: a }
spec:
  size: big
---
metadata: { type: jib, id: b }
---
metadata: { type: job }
---
: :
  - [
---
metadata:
  type: job
  id: good
spec: { size: 1 }
`,
    );
    const { code, stdout, stderr } = await run("apply -f bad.yaml", { open: () => checking });
    expect(code).toBe(1);
    expect(stdout).toBe("Jobs.batch.example.dev/good created\n");
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^bad.yaml:5:19: metadata.type: "jib" is not a known type/);
    expect(lines[1]).toMatch(/^bad.yaml:7:1: metadata.id: is missing/);
    expect(lines[2]).toMatch(/^bad.yaml:(?:9|10|11):/);
    expect(lines[3]).toMatch(/^bad.yaml:3:3: spec.size: must be a number/);
  });

  test("issues are found in the text of an error that came over a wire", async () => {
    const far: State = new Proxy(state, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (key !== "create") return typeof value === "function" ? value.bind(target) : value;
        const message = 'X(default/a) is invalid: spec.a.b[1]: is bad: spec.x; spec["c d"]: is worse; really';
        return () => Promise.reject(new StateError("invalid", message));
      },
    });
    const text = "metadata: { type: svc, id: a }\nspec:\n  a:\n    b: [x,\n        y]\n  c d: 1\n";
    const { stderr } = await run("apply -f -", { open: () => far, readStdin: async () => text });
    expect(stderr).toBe('stdin:5:9: spec.a.b[1]: is bad: spec.x\nstdin:6:3: spec["c d"]: is worse; really\n');
  });

  test("a version in the manifest has to be the stored one, if there is anything to change", async () => {
    const apply = (text: string): Promise<Outcome> => run("apply -f -", { readStdin: async () => text });
    const yaml = (await run("get svc web -o yaml")).stdout;
    expect((await apply(yaml)).stdout).toContain("unchanged");
    expect((await apply(yaml.replace("- a", "- b"))).stdout).toContain("configured");
    expect((await apply(yaml.replace("- a", "- b"))).stdout).toContain("unchanged");
    const late = await apply(yaml.replace("- a", "- c"));
    expect(late).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("version 1, and version 2") });
    expect(await commandOf("web")).toEqual({ command: ["b"] });
  });

  test("a manifest without a spec changes the metadata alone", async () => {
    await state.create(Secret.create("key", { value: "hush" }));
    const hidden = (await run("get secret key -o yaml")).stdout;
    const text = hidden.replace("updated:", "labels: { a: b }\n    updated:");
    expect((await run("apply -f -", { readStdin: async () => text })).stdout).toContain("configured");
    const { spec, metadata } = await state.get(Secret.ref("key"));
    expect(spec).toEqual({ value: "hush" });
    expect(metadata.labels).toEqual({ a: "b" });
  });

  test("folders by name, deeper ones when asked, and standard input", async () => {
    const manifest = (id: string): string => `metadata: { type: svc, id: ${id} }\nspec: { command: [] }\n`;
    await mkdir(join(folder, "all", "deep"), { recursive: true });
    await write("all/2.yml", manifest("two"));
    await write("all/1.yaml", manifest("one"));
    await write("all/3.json", JSON.stringify({ metadata: { type: "svc", id: "three" }, spec: { command: [] } }));
    await write("all/readme.md", "no manifest");
    await write("all/deep/4.yaml", manifest("four"));
    const ids = (text: string): readonly string[] =>
      Array.from(text.matchAll(/\/(\w+) \w+\n/g), ([, id]) => String(id));
    expect(ids((await run("apply -f all")).stdout)).toEqual(["one", "two", "three"]);
    expect(ids((await run("apply -R -f all")).stdout)).toEqual(["one", "two", "three", "four"]);
    expect(ids((await run("apply -f all/1.yaml -f -", { readStdin: async () => manifest("five") })).stdout)).toEqual([
      "one",
      "five",
    ]);
    expect(await run("apply -f - -f -")).toMatchObject({ code: 2 });
    expect(await run("apply -f nowhere")).toMatchObject({ code: 2, stderr: expect.stringContaining("nowhere") });
    await mkdir(join(folder, "empty"));
    expect(await run("apply -f empty")).toMatchObject({ code: 2 });
    expect(await run("apply -f -")).toMatchObject({ code: 2, stderr: expect.stringContaining("no manifest") });
    expect(await run("apply")).toMatchObject({ code: 2 });
  });

  test("-n is for manifests that name no namespace, and others must be of it", async () => {
    await write("a.yaml", "metadata: { type: svc, id: a }\n---\nmetadata: { type: svc, id: b, namespace: other }\n");
    const { code, stdout, stderr } = await run("apply -n lab -f a.yaml");
    expect(code).toBe(1);
    expect(stdout).toContain("/a created");
    expect(stderr).toMatch(/^a.yaml:3:1: .*\/b: it is of namespace other, and -n asks for lab/);
    expect(await state.getOrNull(Service.in("lab").ref("a"))).toBeDefined();
  });

  test("what a controller owns is changed only in its name", async () => {
    await state.create(Service.create("owned", { command: ["a"] }), { owner: "C" });
    const yaml = (await run("get svc owned -o yaml")).stdout.replace("- a", "- b");
    const apply = (line: string): Promise<Outcome> => run(line, { readStdin: async () => yaml });
    expect(await apply("apply -f -")).toMatchObject({ code: 1, stderr: expect.stringContaining("owned by C") });
    expect(await apply("apply --owner C -f -")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("configured"),
    });
  });

  test("a spec in a binary form is not overwritten with another one", async () => {
    await state.create(opaque(Service.create("far", { command: [] }), "command: []\n", new Uint8Array([10, 1, 97])));
    const text = "metadata: { type: svc, id: far }\nspec: { command: [b] }\n";
    const { code, stderr } = await run("apply -f -", { readStdin: async () => text });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stdin:1:1: .*binary form/);
    // The same with a spec that came as JSON, or as YAML alone.
    await state.create(opaque(Service.create("json", { command: [] }), "command: []\n"));
    await state.create(createResource(Service.ref("yaml"), new OpaqueSpec({ yaml: "command: []\n" })));
    for (const id of ["json", "yaml"]) {
      const outcome = await run("apply -f -", { readStdin: async () => text.replace("far", id) });
      expect(outcome.stdout).toContain("configured");
    }
    expect(await commandOf("json")).toEqual({ command: ["b"] });
    expect((await commandOf("yaml")) as OpaqueSpec).toMatchObject({ yaml: "command:\n    - b\n" });
  });

  test("an endpoint that is gone ends the work at once", async () => {
    let writes = 0;
    const gone: State = new Proxy(lent(state), {
      get: (target, key) =>
        key === "create"
          ? () => {
              writes++;
              return Promise.reject(new StateError("unavailable", "gone"));
            }
          : Reflect.get(target, key),
    });
    await write("a.yaml", "metadata: { type: svc, id: a }\n---\nmetadata: { type: svc, id: b }\n");
    expect(await run("apply -f a.yaml", { open: () => gone })).toMatchObject({ code: 5, stdout: "" });
    expect(writes).toBe(1);
  });
});

describe("edit", () => {
  /** An editor that is a shell script. */
  async function editor(script: string): Promise<FakeHost> {
    await write("editor", `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, "editor"), 0o755);
    return { env: { PATH: process.env["PATH"], EDITOR: join(folder, "editor"), VISUAL: "" } };
  }
  const kept = (stderr: string): string => /your text is kept in (.*)\n/.exec(stderr)?.[1] ?? "";

  test("writes what changed", async () => {
    const host = await editor(`sed -i 's/- a$/- changed/; s/tier: front/tier: back/' "$1"`);
    expect(await run("edit svc web", host)).toEqual({
      code: 0,
      stdout: "Services.supervisor.example.dev/web edited\n",
      stderr: "",
    });
    const { spec, metadata } = await state.get(Service, "web");
    expect(spec.command).toEqual(["changed"]);
    expect(metadata.labels).toEqual({ tier: "back" });
  });

  test("labels alone leave the bytes of the spec as they are", async () => {
    const bytes = new Uint8Array([8, 255]);
    await state.create(opaque(Service.create("far", { command: [] }, { labels: { a: "1" } }), "command: [x]\n", bytes));
    await run("edit svc/far", await editor(`sed -i 's/a: 1/a: 2/' "$1"`));
    const { spec, metadata } = await state.get(Service.ref("far"));
    expect(metadata.labels).toEqual({ a: "2" });
    expect((spec as unknown as OpaqueSpec).bytes).toEqual(bytes);
  });

  test.each([
    ["nothing", "true"],
    ["comments", `echo '# hello' >> "$1"`],
    ["the form", `sed -i 's/    - a$/    - "a"/' "$1"`],
    ["everything away", `: > "$1"`],
  ])("changing %s changes nothing", async (_, script) => {
    expect(await run("edit svc web", await editor(script))).toEqual({
      code: 0,
      stdout: "",
      stderr: "homeostat: nothing was changed\n",
    });
    expect((await state.get(Service, "web")).metadata.version).toBe("1");
  });

  test("a write in between is a conflict, and the text is kept", async () => {
    const host = await editor(`sed -i 's/- a$/- mine/' "$1"`);
    const racing: State = new Proxy(lent(state), {
      get: (target, key) => {
        if (key !== "update") return Reflect.get(target, key);
        return async (...args: Parameters<State["update"]>) => {
          await state.modify(Service, "web", (spec) => {
            spec.command = ["theirs"];
          });
          return target.update(...args);
        };
      },
    });
    const { code, stdout, stderr } = await run("edit svc web", { ...host, open: () => racing });
    expect(code).toBe(4);
    expect(stdout).toBe("");
    expect(await readFile(kept(stderr), "utf8")).toContain("- mine");
    expect(await commandOf("web")).toEqual({ command: ["theirs"] });
    await rm(join(kept(stderr), ".."), { recursive: true });
  });

  test.each([
    ["no YAML", `echo '[' >> "$1"`, /resource.yaml|line \d+, column \d+/],
    ["another id", `sed -i 's/id: web/id: wob/' "$1"`, /metadata.id cannot be changed/],
    ["another phase", `sed -i 's/phase: running/phase: tearingDown/' "$1"`, /metadata.phase cannot be changed/],
    ["an unknown field", `echo 'status: 1' >> "$1"`, /status/],
  ])("a mistake (%s) is told, and the text is kept", async (_, script, reason) => {
    const { code, stderr } = await run("edit svc web", await editor(script));
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
    expect(await readFile(kept(stderr), "utf8")).toContain("metadata:");
    await rm(join(kept(stderr), ".."), { recursive: true });
  });

  test("with a person there, the editor opens again with the mistake on top", async () => {
    const script = `if grep -q '^# ! ' "$1"; then sed -i 's/size: big/size: 2/' "$1"; else sed -i 's/size: 1/size: big/' "$1"; fi`;
    const checking = new MemoryState({ types: [Job] });
    await describeTypes(checking, [Job], new Map());
    await checking.create(Job.create("a", { size: 1 }));
    const host = { ...(await editor(script)), isInteractive: true, open: () => checking };
    expect(await run("edit job a", host)).toMatchObject({ code: 0, stdout: expect.stringContaining("edited") });
    expect((await checking.get(Job, "a")).spec.size).toBe(2);
  });

  test("an editor that gives up after a mistake ends it", async () => {
    const host = { ...(await editor(`grep -q '^# ! ' "$1" || echo '[' >> "$1"`)), isInteractive: true };
    const { code, stderr } = await run("edit svc web", host);
    expect(code).toBe(1);
    await rm(join(kept(stderr), ".."), { recursive: true });
  });

  test("an editor that fails, or is none, changes nothing", async () => {
    expect(await run("edit svc web", await editor("exit 3"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ended with 3"),
    });
    const none = { env: { PATH: process.env["PATH"], EDITOR: "no-such-editor-here" } };
    expect(await run("edit svc web", none)).toMatchObject({ code: 2, stderr: expect.stringContaining("EDITOR") });
    expect(await run("edit svc nobody", await editor("true"))).toMatchObject({ code: 3 });
    expect(await run("edit svc")).toMatchObject({ code: 2 });
    await state.create(createResource(Service.ref("raw"), new OpaqueSpec({ bytes: new Uint8Array(1) })));
    expect(await run("edit svc raw", await editor("true"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("label"),
    });
  });
});
