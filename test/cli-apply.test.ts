import { MemoryState } from "homeostat";
import { beforeEach, describe, expect, test } from "vitest";
import { describeTypes } from "../src/plane/index.ts";
import { describedState, Job, opaque, runOn, Secret, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";

let state: MemoryState;
const run = (line: string, input = "", host: FakeHost = {}): Promise<Outcome> =>
  runOn(state, line.split(" "), { readStdin: async () => input, ...host });
const manifest = (id: string, spec = "{ command: [a] }", labels = "{}"): string =>
  `---\nmetadata: { type: svc, id: ${id}, labels: ${labels} }\nspec: ${spec}\n`;
const ids = async (): Promise<string> => (await state.list(Service)).map(({ metadata }) => metadata.id).join(" ");

beforeEach(async () => {
  state = await describedState();
  await state.create(Service.create("web", { command: ["a"] }, { labels: { tier: "front" } }));
});

describe("apply --dry-run", () => {
  test.each([["client"], ["server"]])("%s says what apply would do, and writes nothing", async (where) => {
    const text = manifest("web", "{ command: [b] }") + manifest("new");
    const before = state.list(Service);
    const { code, stdout } = await run(`apply -f - --dry-run=${where}`, text);
    expect([code, stdout.replaceAll("Services.supervisor.example.dev/", "")]).toEqual([
      0,
      `web configured (${where} dry run)\nnew created (${where} dry run)\n`,
    ]);
    expect(await state.list(Service)).toEqual(await before);
    await run("apply -f -", text);
    expect((await run("apply -f - --dry-run", text)).stdout).toMatch(/web unchanged .*\n.*new unchanged/);
  });

  test("the State judges each spec when it is asked to, of new resources and of those that are there", async () => {
    const checking = new MemoryState({ types: [Job] });
    await describeTypes(checking, [Job], new Map());
    await checking.create(Job.create("there", { size: 1 }));
    const text = ["there", "new"]
      .map((id) => `---\nmetadata: { type: job, id: ${id} }\nspec: { size: big }\n`)
      .join("");
    const host = { open: () => checking };
    expect((await run("apply -f - --dry-run=client", text, host)).code).toBe(0);
    expect(await run("apply -f - --dry-run=server", text, host)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "stdin:3:9: spec.size: must be a number\nstdin:6:9: spec.size: must be a number\n",
    });
    const good = text.replaceAll("big", "2");
    expect(await run("apply -f - --dry-run=server", good, host)).toMatchObject({ code: 0, stderr: "" });
    expect((await checking.list(Job)).map(({ spec }) => spec.size)).toEqual([1]);
  });

  test("an owner that apply would meet is met by the dry run as well", async () => {
    await state.create(Service.create("owned", { command: [] }), { owner: "C" });
    expect(await run("apply -f - --dry-run", manifest("owned"))).toMatchObject({ code: 1, stdout: "" });
    expect(await run("apply -f - --dry-run=server --owner C", manifest("owned"))).toMatchObject({ code: 0 });
    expect((await run("apply -f - --dry-run=maybe", manifest("x"))).code).toBe(2);
  });
});

describe("apply --prune", () => {
  test("deletes what the set had, and has no more; nothing else", async () => {
    await run("apply -f - --set shop", manifest("a") + manifest("b") + manifest("c"));
    await run("apply -f - --set other", manifest("d"));
    await run("apply -f -", manifest("e"));
    await state.create(Service.create("copy", { command: [] }, { labels: { "homeostat/set": "shop" } }));
    expect(await ids()).toBe("a b c copy d e web");
    const dry = await run("apply -f - --set shop --prune --dry-run", manifest("a"));
    expect(dry.stdout).toMatch(/a unchanged.*\n.*\/b pruned \(client dry run\)\n.*\/c pruned/);
    expect(await ids()).toBe("a b c copy d e web");
    await state.addFinalizer(Service.ref("c"), "F");
    const { code, stdout } = await run("apply -f - --set shop --prune", manifest("a"));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\/b pruned\n.*\/c tearing down\n$/)]);
    expect(await ids()).toBe("a c copy d e web");
  });

  test("looks into all namespaces that are described, or the one that is asked for", async () => {
    const elsewhere = "---\nmetadata: { type: svc, id: far, namespace: vault }\nspec: { command: [] }\n";
    await run("apply -f - --set shop", manifest("a") + elsewhere);
    expect((await run("apply -n default -f - --set shop --prune", manifest("a"))).stdout).not.toContain("pruned");
    expect((await run("apply -f - --set shop --prune", manifest("a"))).stdout).toContain("far pruned");
  });

  test("by label: of what was applied", async () => {
    await run("apply -f -", manifest("a", undefined, "{ tier: front }") + manifest("b", undefined, "{ tier: front }"));
    const text = manifest("a", undefined, "{ tier: front }") + manifest("x", undefined, "{ tier: back }");
    const outcome = await run("apply -f - -l tier=front --prune", text);
    expect(outcome.stdout).toMatch(/a unchanged\n.*\/b pruned\n$/);
    expect(outcome.stderr).toContain("1 manifests do not match");
    expect(await ids()).toBe("a web");
  });

  test("never after a mistake, and never without saying of what", async () => {
    await run("apply -f - --set shop", manifest("a") + manifest("b"));
    const outcome = await run("apply -f - --set shop --prune", `${manifest("a")}---\nmetadata: { type: svc }\n`);
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing is pruned") });
    expect((await run("apply -f - --prune", manifest("a"))).code).toBe(2);
    expect((await run("apply -f - --set shop --prune", "")).code).toBe(2);
    expect(await ids()).toBe("a b web");
  });

  test("a resource is in one set, and a name of a set is a word", async () => {
    await run("apply -f - --set shop", manifest("a"));
    expect(await run("apply -f - --set other", manifest("a"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("belongs to the set shop"),
    });
    expect((await run("apply -f - --set a,b", manifest("a"))).code).toBe(2);
  });
});

describe("apply", () => {
  test("a label key that no selector can name is a mistake of its manifest", async () => {
    expect(await run("apply -f -", manifest("a", undefined, "{ 'a b': x }"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^stdin:2:1: .*metadata.labels: a label key consists of .*"a b"\n$/),
    });
    const { code, stderr } = await runOn(state, ["label", "svc", "web", "a b=1"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("a label key consists of")]);
  });
});

describe("diff", () => {
  test("shows what apply would change, and says so by its exit code", async () => {
    const { code, stdout, stderr } = await run("diff -f -", manifest("web", "{ command: [b] }", "{ x: '1' }"));
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain("--- Services.supervisor.example.dev/web (stored)\n");
    expect(stdout).toMatch(/\n {9}tier: front\n\+ {8}x: 1\n spec:\n {5}command:\n- {8}- a\n\+ {8}- b\n/);
    expect(stdout).not.toContain("homeostat/applied");
    expect(await run("diff -f -", manifest("web"))).toEqual({ code: 0, stdout: "", stderr: "" });
    const created = await run("diff -f -", manifest("new"));
    expect([created.code, created.stdout]).toEqual([1, expect.stringContaining("\n+    id: new\n")]);
  });

  test("a failure is more than a difference", async () => {
    expect((await run("diff -f -", "metadata: { type: svc }\n")).code).toBe(2);
    expect((await run("diff -n lab -f -", "metadata: { type: svc, id: a, namespace: other }\n")).code).toBe(2);
    expect((await run("diff")).code).toBe(2);
  });

  test("hides the specs of sensitive types", async () => {
    await state.create(Secret.create("key", { value: "hush" }));
    const text = "metadata: { type: secret, id: key }\nspec: { value: murmur }\n";
    const { stdout } = await run("diff -f -", text);
    expect(stdout).not.toMatch(/hush|murmur/);
    expect(stdout).toContain("differs; --show-sensitive");
    expect((await run("diff -f - --show-sensitive", text)).stdout).toMatch(/-.*hush\n\+.*murmur/);
  });

  test("colours lines where it may", async () => {
    const { stdout } = await run("diff -f - --color always", manifest("web", "{ command: [b] }"));
    expect(stdout).toContain("\u001b[31m-        - a\u001b[39m");
  });
});

const patch = (...args: readonly string[]): Promise<Outcome> => runOn(state, ["patch", "svc", "web", ...args]);

describe("patch", () => {
  test("merges, removes with null, replaces lists", async () => {
    const text = '{"metadata":{"labels":{"tier":null,"x":"1"}},"spec":{"restart":"never","command":["b","c"]}}';
    expect(await patch("-p", text)).toEqual({
      code: 0,
      stdout: "Services.supervisor.example.dev/web patched\n",
      stderr: "",
    });
    const { metadata, spec } = await state.get(Service, "web");
    expect([{ ...metadata.labels }, spec]).toEqual([{ x: "1" }, { command: ["b", "c"], restart: "never" }]);
    expect((await patch("-p", "spec: { restart: never }")).stdout).toContain("unchanged");
    expect((await state.get(Service, "web")).metadata.version).toBe("2");
  });

  test("a JSON patch does all of its operations, or none", async () => {
    const text =
      '[{"op":"test","path":"/spec/command/0","value":"a"},{"op":"add","path":"/spec/command/-","value":"b"}]';
    expect((await patch("--type", "json", "-p", text)).code).toBe(0);
    expect((await state.get(Service, "web")).spec.command).toEqual(["a", "b"]);
    const failing = text.replace('"value":"a"', '"value":"z"');
    expect(await patch("--type=json", "-p", failing)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("operation 1 (test /spec/command/0)"),
    });
    expect(await patch("--type=json", "-p", '[{"op":"remove","path":"/spec/nothing"}]')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("operation 1 (remove /spec/nothing)"),
    });
    expect((await state.get(Service, "web")).metadata.version).toBe("2");
  });

  test.each([
    [["-p", '{"metadata":{"phase":"tearingDown"}}'], 1, /metadata.phase cannot be changed/],
    [["-p", '{"metadata":{"labels":{"a b":"x"}}}'], 1, /a label key/],
    [["-p", '{"metadata":{"labels":{"a":1}}}'], 1, /labels/],
    [["-p", '{"status":1}'], 1, /status is not a known field/],
    [["-p", '{"metadata":null}'], 1, /removes the metadata/],
    [["-p", "[1]"], 2, /a merge patch is an object/],
    [["-p", "{"], 2, /the patch cannot be read/],
    [["-p", "{}", "--type=json"], 2, /a JSON patch is a list/],
    [["-p", '[{"op":"add"}]', "--type=json"], 1, /operation 1/],
    [["-p", '[{"op":"add","path":"/__proto__/x","value":1}]', "--type=json"], 1, /x is not a known field/],
    [["-p", "{}", "--type=strategic"], 2, /merge or json/],
    [[], 2, /-p and --patch-file/],
    [["--patch-file", "nowhere"], 2, /nowhere cannot be read/],
  ])("%j is refused", async (args, code, reason) => {
    expect(await patch(...args)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(reason) });
    expect((await state.get(Service, "web")).metadata.version).toBe("1");
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });

  test("large numbers keep their digits, and the words of a peer's spec give way", async () => {
    await state.create(opaque(Service.create("far", { command: [] }), "size: 12345678901234567890 # kept\n"));
    await runOn(state, ["patch", "svc", "far", "-p", '{"metadata":{"labels":{"a":"b"}}}']);
    expect((await run("get svc far -o yaml")).stdout).toContain("12345678901234567890 # kept");
    await runOn(state, ["patch", "svc", "far", "-p", '{"spec":{"other":98765432109876543210}}']);
    expect((await run("get svc far -o json")).stdout).toMatch(/12345678901234567890[^]*98765432109876543210/);
  });
});

describe("delete -f", () => {
  test("deletes what manifests name", async () => {
    await run("apply -f -", manifest("a") + manifest("b"));
    expect((await run("delete -f -", manifest("a") + manifest("b"))).stdout).toMatch(/a deleted\n.*b deleted\n$/);
    expect(await ids()).toBe("web");
    expect((await run("delete -f -", manifest("a"))).code).toBe(3);
    expect((await run("delete -f - --ignore-not-found", manifest("a"))).code).toBe(0);
    expect((await run("delete svc web -f -", manifest("web"))).code).toBe(2);
    expect((await run("delete")).code).toBe(2);
    expect(await ids()).toBe("web");
  });
});
