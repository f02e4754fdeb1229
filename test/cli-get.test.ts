import { beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createResource, ManualClock, OpaqueSpec, StateError, type MemoryState, type State } from "homeostat";
import { definitionOf } from "homeostat/resource";
import { describedState, opaque, runOn, Secret, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const withoutTimes = (text: string): string => text.replace(TIME, "TIME");

let state: MemoryState;
const run = (line: string, host?: FakeHost): Promise<Outcome> => runOn(state, line.split(" "), host);

beforeEach(async () => {
  state = await describedState();
  const web = Service.create("web", { command: [] }, { labels: { tier: "front" }, finalizers: ["F"] });
  await state.create(opaque(web, "command: [node, web.js] # as the peer wrote it\nlimits: { memory: 10MiB }\n"));
  await state.create(Service.create("db", { command: ["postgres"] }));
  await state.create(Secret.create("key", { value: "hush" }));
});

describe("get as a table", () => {
  test("shows the columns of the definition, whether specs are known or came as YAML", async () => {
    expect(await run("get svc")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "NAMESPACE   TYPE      ID    VERSION   COMMAND             MEMORY",
        'default     Service   db    1         ["postgres"]',
        'default     Service   web   1         ["node","web.js"]   10MiB',
        "",
      ].join("\n"),
    });
  });

  test("wide shows the rest of the metadata", async () => {
    const { metadata } = await state.get(Service.ref("web"));
    const clock = new ManualClock(Date.parse(metadata.created) + 3 * 3_600_000 + 60_000);
    const { stdout } = await run("get svc web -o wide", { clock });
    const [headers, row] = stdout.split("\n");
    expect(headers).toMatch(/VERSION +PHASE +OWNER +AGE +UPDATED +LABELS +FINALIZERS +COMMAND/);
    expect(row).toMatch(/^default +Service +web +1 +running +3h1m +3h1m +tier=front +F +\[/);
  });

  test("without headers", async () => {
    const { stdout } = await run("get svc db --no-headers");
    expect(stdout).toBe('default   Service   db   1   ["postgres"]\n');
  });

  test("several types are several tables", async () => {
    const { stdout } = await run("get svc,secret --no-headers");
    expect(stdout.split("\n\n")).toHaveLength(2);
  });

  test("selects by label", async () => {
    expect((await run("get svc -l tier=front -o name")).stdout).toBe("Services.supervisor.example.dev/web\n");
    expect((await run("get svc -l !tier -o name")).stdout).toBe("Services.supervisor.example.dev/db\n");
    expect(await run("get svc -l tier=(")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("label selector"),
    });
  });

  test("looks into one namespace, or all that are described", async () => {
    await state.create(Service.in("vault").create("web", { command: [] }));
    expect((await run("get svc -n vault -o name")).stdout.trim().split("\n")).toHaveLength(1);
    expect((await run("get svc -A -o name")).stdout.trim().split("\n")).toHaveLength(3);
    expect((await run("get svc -n vault -A")).code).toBe(2);
    expect((await run("get svc web -A")).code).toBe(2);
  });

  test("nothing there is said on standard error, and no failure", async () => {
    expect(await run("get ss")).toEqual({
      code: 0,
      stdout: "",
      stderr: "homeostat: no ServiceStatus in namespace default\n",
    });
  });

  test("what comes from elsewhere cannot move the cursor or break a row", async () => {
    await state.create(createResource({ ...Service.ref("\u001b[2Jx\ny") }, { command: ["\u001b]0;t\u0007"] }));
    const { stdout } = await run("get svc --no-headers");
    expect(stdout.split("\n")).toHaveLength(4);
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(stdout).toContain("\\u001b[2Jx\\ny");
  });

  test("a column or spec that cannot be used costs itself, not the table", async () => {
    const definition = await definitionOf(Service);
    const printColumns = [
      { name: "Bad", jsonPath: "{range .items}" },
      { name: "Command", jsonPath: "{.command[0]}" },
    ];
    await state.updateWithConflicts(definition.metadata, () => ({ ...definition.spec, printColumns }), {
      owner: "meta",
    });
    await state.create(opaque(Service.create("torn", { command: [] }), "command: [\n"));
    const { code, stdout, stderr } = await run("get svc");
    expect(code).toBe(0);
    expect(stdout).toMatch(/ID +VERSION +BAD +COMMAND/);
    expect(stdout).toMatch(/db +1 +\? +postgres\n/);
    expect(stdout).toMatch(/torn +1 +<unreadable> +<unreadable>\n/);
    expect(stderr).toMatch(/^homeostat: column Bad of Services.supervisor.example.dev: .*range and end/);
  });

  test("colours only when asked, or on a terminal that may", async () => {
    await state.teardown(Service.ref("web"));
    // oxlint-disable-next-line no-control-regex
    const colored = /\u001b\[33mdefault +Service +web/;
    expect((await run("get svc", { isTerminal: true })).stdout).toMatch(colored);
    expect((await run("get svc --color always")).stdout).toMatch(colored);
    expect((await run("get svc")).stdout).not.toContain("\u001b");
    expect((await run("get svc", { isTerminal: true, env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
    expect((await run("get svc --color never", { isTerminal: true })).stdout).not.toContain("\u001b");
    expect((await run("get svc --color sometimes")).code).toBe(2);
  });
});

describe("get in other formats", () => {
  test("yaml keeps the words of the peer", async () => {
    const { stdout } = await run("get svc web -o yaml");
    expect(withoutTimes(stdout)).toBe(`metadata:
    namespace: default
    type: Services.supervisor.example.dev
    id: web
    version: 1
    owner:
    phase: running
    created: TIME
    updated: TIME
    labels:
        tier: front
    finalizers:
        - F
spec:
    command: [node, web.js] # as the peer wrote it
    limits: {memory: 10MiB}
`);
  });

  test("a yaml list is a stream of documents", async () => {
    const documents = parseAllDocuments((await run("get svc -o yaml")).stdout);
    expect(documents.map((one) => (one.toJS() as { metadata: { id: string } }).metadata.id)).toEqual(["db", "web"]);
  });

  test("json is an array for a list, an object for one resource", async () => {
    const list: unknown = JSON.parse((await run("get svc -o json")).stdout);
    expect(list).toMatchObject([
      { metadata: { id: "db", version: "1" }, spec: { command: ["postgres"] } },
      { metadata: { id: "web", labels: { tier: "front" } }, spec: { limits: { memory: "10MiB" } } },
    ]);
    expect(JSON.parse((await run("get svc web -o json")).stdout)).toMatchObject({ metadata: { id: "web" } });
    expect(JSON.parse((await run("get ss -o json")).stdout)).toEqual([]);
  });

  test("jsonpath shows what it finds in each resource, one value a line", async () => {
    expect((await run("get svc -o jsonpath={.spec.command[0]}")).stdout).toBe("postgres\nnode\n");
    expect((await run("get svc -o jsonpath=$.metadata.id")).stdout).toBe("db\nweb\n");
    expect((await run("get svc -o jsonpath={.spec.limits}")).stdout).toBe('{"memory":"10MiB"}\n');
    expect(await run("get svc -o jsonpath={range")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("get svc -o jsonpath=")).toMatchObject({ code: 2 });
  });

  test("jsonpath over the list as a whole, as kubectl has it", async () => {
    expect((await run("get svc -o jsonpath={.items[*].metadata.id}")).stdout).toBe("db\nweb\n");
    expect((await run("get svc -o jsonpath={.items[1].spec.command[0]}")).stdout).toBe("node\n");
    expect((await run("get svc web -o jsonpath=$.items[0].metadata.id")).stdout).toBe("web\n");
    expect((await run("get ss -o jsonpath={.items}")).stdout).toBe("[]\n");
    expect((await run("get svc -w -o jsonpath={.items[*]}")).code).toBe(2);
  });

  test("columns of one's own", async () => {
    const columns = "NAME:.metadata.id,FIRST:{.spec.command[0,1]},MEMORY:.spec.limits.memory";
    expect((await run(`get svc -o custom-columns=${columns}`)).stdout).toBe(
      "NAME   FIRST         MEMORY\ndb     postgres      <none>\nweb    node,web.js   10MiB\n",
    );
    expect((await run("get secret -o custom-columns=A:.spec.value")).stdout).toBe("A\n<none>\n");
    for (const wrong of ["", "A", "A:", ":.a", "A:.a,", "A:{range"]) {
      expect((await run(`get svc -o custom-columns=${wrong}`)).code).toBe(2);
    }
  });

  test("sorted by what a path finds; what has nothing there comes last", async () => {
    await state.create(Service.create("a", { command: ["z"], limits: { memory: "2GiB" } }));
    await state.create(Service.create("z", { command: ["a"], limits: { memory: "9KiB" } }));
    const ids = async (path: string): Promise<string> =>
      (await run(`get svc --sort-by ${path} -o jsonpath=$.metadata.id`)).stdout.trim().replaceAll("\n", " ");
    expect(await ids("{.spec.command[0]}")).toBe("z web db a");
    expect(await ids(".spec.limits.memory")).toBe("z web a db");
    expect(await run("get svc --sort-by $.spec.command[*]")).toMatchObject({ code: 2 });
    expect(await run("get svc -w --sort-by $.metadata.id")).toMatchObject({ code: 2 });
  });

  test("a spec that came without YAML is not made up", async () => {
    await state.create(createResource(Service.ref("raw"), new OpaqueSpec({ bytes: new Uint8Array(3) })));
    expect((await run("get svc raw -o yaml")).stdout).toContain("# spec: 3 bytes that came without YAML\n");
    expect(JSON.parse((await run("get svc raw -o json")).stdout)).toMatchObject({ spec: null });
  });

  test("a spec that a peer wrote badly hides no other", async () => {
    for (const [id, yaml] of Object.entries({ torn: "command: [\n", lost: "command: *nobody\n" })) {
      await state.create(opaque(Service.create(id, { command: [] }), yaml));
    }
    const yaml = await run("get svc -o yaml");
    expect(yaml.code).toBe(0);
    expect(yaml.stdout.match(/# spec: cannot be shown: line \d/g)).toHaveLength(2);
    const json = await run("get svc -o json");
    expect(JSON.parse(json.stdout)).toMatchObject([
      { metadata: { id: "db" }, spec: { command: ["postgres"] } },
      { metadata: { id: "lost" }, spec: null },
      { metadata: { id: "torn" }, spec: null },
      { metadata: { id: "web" }, spec: { command: ["node", "web.js"] } },
    ]);
    expect(json.stderr.match(/^homeostat: the spec of .* cannot be shown/gm)).toHaveLength(2);
  });

  test("an unknown format is a mistake", async () => {
    expect(await run("get svc -o xml")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("xml") });
  });
});

describe("sensitive types", () => {
  test.each(["table", "yaml", "json", "jsonpath=$.spec", "jsonpath=$..*"])("%s hides the spec", async (format) => {
    const { code, stdout } = await run(`get secret -o ${format}`);
    expect(code).toBe(0);
    expect(stdout).not.toContain("hush");
  });

  test("describe hides it as well", async () => {
    expect((await run("describe secret key")).stdout).toMatch(/Spec:\n {4}\(hidden.*--show-sensitive/);
  });

  test.each(["get secret", "get secret -o yaml", "get secret -o json", "describe secret key"])(
    "%s --show-sensitive shows it",
    async (line) => {
      expect((await run(`${line} --show-sensitive`)).stdout).toContain("hush");
    },
  );
});

describe("the description of a resource", () => {
  test("shows everything", async () => {
    const { stdout } = await run("describe svc web");
    expect(withoutTimes(stdout)).toBe(`ID:          web
Namespace:   default
Type:        Service (Services.supervisor.example.dev)
Version:     1
Phase:       running
Owner:       none
Created:     TIME
Updated:     TIME
Labels:      tier=front
Annotations: none
Finalizers:  F
Spec:
    command: [node, web.js] # as the peer wrote it
    limits: {memory: 10MiB}
`);
  });

  test("several, with a line between them; none is said", async () => {
    expect((await run("describe svc")).stdout.split("\n\n")).toHaveLength(2);
    expect(await run("describe ss")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("nothing") });
    expect(await run("describe svc web nobody")).toMatchObject({ code: 3, stdout: expect.stringContaining("web") });
  });
});

describe("what get cannot find", () => {
  test("a missing resource costs itself", async () => {
    const { code, stdout, stderr } = await run("get svc nobody web -o name");
    expect(code).toBe(3);
    expect(stdout).toBe("Services.supervisor.example.dev/web\n");
    expect(stderr).toMatch(/^homeostat: Services.supervisor.example.dev\(default\/nobody.*does not exist\n$/);
  });

  test("an unknown type suggests, an ambiguous one lists", async () => {
    expect(await run("get servce")).toEqual({
      code: 3,
      stdout: "",
      stderr: 'homeostat: there is no type called "servce"; did you mean service?\n',
    });
    expect(await run("get serv")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/ServiceStatuses.*Services/),
    });
  });

  test("a type that nobody described is shown by its full name, if there is anything of it", async () => {
    await state.create(createResource({ namespace: "default", type: "Guests.hotel.example", id: "a" }, { room: 1 }));
    expect(await run("get Guests.hotel.example -o jsonpath={.spec.room}")).toMatchObject({ code: 0, stdout: "1\n" });
    expect(await run("get Ghosts.hotel.example")).toMatchObject({ code: 3, stderr: expect.stringContaining("Ghosts") });
  });
});

describe("nodes", () => {
  const failing = (code: "unavailable"): State =>
    new Proxy(state, {
      get: (target, key) =>
        key === "list" ? () => Promise.reject(new StateError(code, "no route")) : Reflect.get(target, key),
    });

  test("each is asked with its own call, and named in its rows", async () => {
    const asked: (string | undefined)[] = [];
    const open = ({ node }: { readonly node: string | undefined }): State => {
      asked.push(node);
      return state;
    };
    const { code, stdout } = await run("get svc web --node a,b --node c", { open });
    expect(code).toBe(0);
    expect(asked).toEqual(["a", "b", "c"]);
    expect(stdout).toMatch(/^NODE +NAMESPACE.*\na +default.*\nb +default.*\nc +default.*\n$/);
    const yaml = (await run("get svc web --node a -o yaml", { open })).stdout;
    expect(parse(yaml)).toMatchObject({ node: "a", metadata: { id: "web" } });
    expect(JSON.parse((await run("get svc web --node a -o json", { open })).stdout)).toMatchObject({ node: "a" });
  });

  test("one that fails is named, and the others answer", async () => {
    const { code, stdout, stderr } = await run("get svc web --no-headers --node a,b", {
      open: ({ node }) => (node === "a" ? failing("unavailable") : state),
    });
    expect(code).toBe(5);
    expect(stdout).toMatch(/^b +default/);
    expect(stderr).toContain("node a: no route");
  });

  test("a command that writes goes to one", async () => {
    expect(await run("delete svc web --node a,b")).toMatchObject({ code: 2 });
  });
});
