import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineResource, sameResource, shape } from "../resource/index.ts";
import { parseManifests } from "./manifests.ts";
import { formatResources } from "./resource-yaml.ts";
import { YamlError } from "./yaml-error.ts";

const Service = defineResource({
  type: "Services.supervisor.example.dev",
  spec: z.strictObject({
    command: z.array(z.string()).min(1),
    env: z.record(z.string(), z.string()).default({}),
    ports: z.array(z.strictObject({ number: z.number().int() })).optional(),
  }),
  aliases: ["svc"],
});
const Note = defineResource({ type: "test/note", namespace: "notes", spec: shape({ "text?": "string" }) });
const types = [Service, Note];

const parse = (text: string, file?: string) => parseManifests(text, { types, file });
const messages = async (text: string) => (await parse(text, "f")).errors.map(({ message }) => message);

describe("parseManifests", () => {
  test("reads several resources, with the defaults of their types", async () => {
    const { resources, errors, positions } = await parse(
      `# The web
metadata:
    type: Services.supervisor.example.dev
    id: web
    labels: { tier: 007, on: yes }
spec:
    command: [node, web.js]
---
metadata: { type: test/note, id: 1, namespace: home, annotations: { a: b }, finalizers: [x], owner: me }
`,
      "all.yaml",
    );
    expect(errors).toEqual([]);
    const [web, note] = resources;
    expect(web?.metadata).toMatchObject({
      namespace: "default",
      id: "web",
      labels: { tier: "007", on: "yes" },
      version: "undefined",
    });
    expect(web && Service.cast(web)).toBe(web);
    expect(web?.spec).toEqual({ command: ["node", "web.js"], env: {} });
    expect(note?.metadata).toMatchObject({
      namespace: "home",
      id: "1",
      annotations: { a: "b" },
      finalizers: ["x"],
      owner: "me",
    });
    expect(note?.spec).toEqual({});
    expect(resources.map((one) => positions.get(one))).toEqual([
      { file: "all.yaml", line: 2, column: 1 },
      { file: "all.yaml", line: 9, column: 1 },
    ]);
  });

  test.for([
    "Service",
    "services",
    "svc",
    "SVC",
    "services.supervisor",
    "services.supervisor.example",
    "Services.Supervisor.Example.Dev",
  ])("knows a type by the alias %s", async (alias) => {
    const { resources } = await parse(`metadata: { type: ${alias}, id: a }\nspec: { command: [a] }`);
    expect(resources.map(({ metadata }) => metadata.type)).toEqual([Service.type]);
  });

  test("an alias that two types share is refused, the full types are not", async () => {
    const Other = defineResource({ type: "Services.other.example.dev", spec: shape({}) });
    const text = "metadata: { type: Service, id: a }\n---\nmetadata: { type: Services.other.example.dev, id: a }";
    const { resources, errors } = await parseManifests(text, { types: [Service, Other] });
    expect(resources).toHaveLength(1);
    expect(errors.map(({ message }) => message)).toEqual([
      'line 1, column 19: metadata.type: "Service" could be any of Services.other.example.dev, Services.supervisor.example.dev; write the full type',
    ]);
  });

  test("reads what formatResources writes", async () => {
    const written = [
      Service.create(
        "web",
        { command: ["a", "true", ""], env: { A: "1" } },
        { labels: { a: "b" }, owner: "x", finalizers: ["f"] },
      ),
      Note.in("").create("n", { text: "two\nlines" }),
      Note.create("m", {}),
    ];
    const { resources, errors } = await parse(formatResources(written));
    expect(errors).toEqual([]);
    expect(resources).toHaveLength(3);
    // A namespace that is empty means the type's own, here as where it is absent.
    expect(resources.map((one, i) => i === 1 || sameResource(one, written[i] ?? one))).toEqual([true, true, true]);
  });

  test("reads JSON as well", async () => {
    const { resources } = await parse(
      '{\n\t"metadata": {"type": "test/note", "id": "a"},\n\t"spec": {"text": "\\u0041"}\n}\n',
    );
    expect(resources.map(({ spec }) => spec)).toEqual([{ text: "A" }]);
  });

  test("anchors can be used within a document", async () => {
    const text = "metadata: { type: svc, id: &id web }\nspec:\n  command: &c [a, *id]\n  env: { ID: *id }\n";
    expect((await parse(text)).resources.map(({ spec }) => spec)).toEqual([
      { command: ["a", "web"], env: { ID: "web" } },
    ]);
  });

  test.for<[string, string[]]>([
    ["- a", ["f:1:1: must be a mapping, got a list"]],
    ["just text", ["f:1:1: must be a mapping, got a single value"]],
    ["spec: {}", ["f:1:1: metadata: is missing"]],
    ["metadata:\nspec: {}", ["f:1:10: metadata: must be a mapping, got nothing"]],
    ["metadata: {}", ["f:1:1: metadata.id: is missing", "f:1:1: metadata.type: is missing"]],
    ["metadata: { type: test/note, id: }", ["f:1:30: metadata.id: must not be empty"]],
    [
      "metadata:\n  type: test/note\n  name: a",
      [
        "f:1:1: metadata.id: is missing",
        "f:3:3: metadata.name: is not a known field; the name of a resource is metadata.id",
      ],
    ],
    [
      "apiVersion: v1\nkind: Note\nmetadata: { type: test/note, id: a }",
      [
        "f:1:1: apiVersion: is not a known field; the type is a field of metadata",
        "f:2:1: kind: is not a known field; the type is a field of metadata",
      ],
    ],
    [
      "metadata: { type: test/note, id: a }\nstatus: {}",
      ["f:2:1: status: is not a known field; known: metadata, spec"],
    ],
    [
      "metadata: { type: Nothing, id: a }",
      ['f:1:19: metadata.type: "Nothing" is not a known type; known: Services.supervisor.example.dev, test/note'],
    ],
    [
      "metadata: { type: test/note, id: a, version: x, phase: y }",
      [
        'f:1:46: metadata.version: must be "undefined" or a decimal number of 64 bits, got "x"',
        'f:1:56: metadata.phase: must be "running" or "tearingDown", got "y"',
      ],
    ],
    [
      "metadata: { type: test/note, id: a }\nspec:\n  text: 5\n  txet: b",
      ["f:3:3: spec.text: must be a string, got 5", "f:4:3: spec.txet: is not a known field; known: text"],
    ],
    ["metadata: { type: test/note, id: a }\nspec: [1]", ["f:2:1: spec: must be an object, got a list"]],
    ["metadata: { type: svc, id: a }", ["f:1:1: spec.command: Invalid input: expected array, received undefined"]],
    [
      "metadata: { type: svc, id: a }\nspec:\n  command: [a, 5]\n  ports:\n    - number: 1\n    -\n      number: .nan\n      extra: 1\n",
      [
        "f:3:16: spec.command[1]: Invalid input: expected string, received number",
        "f:7:7: spec.ports[1].number: Invalid input: expected number, received NaN",
        "f:8:7: spec.ports[1].extra: is not a known field",
      ],
    ],
    [
      "metadata: { type: svc, id: a }\nspec: &s\n  command: [a]\n  env: { self: *s }",
      ["f:4:16: spec.env.self: the alias contains itself"],
    ],
    [
      "metadata: { type: svc, id: a }\nspec:\n  command: [a]\n  command: [b]",
      ["f:4:3: spec.command: the key is there twice"],
    ],
    [
      "metadata: { type: svc, id: a }\nspec: { command: [a], env: { a: !secret b } }",
      ["f:2:41: spec.env.a: the tag !secret is not supported"],
    ],
    ["metadata: { type: svc, id: a }\nspec: { ? [a] : b }", ["f:2:11: spec: must be a key, got a list"]],
    ["metadata: { type: svc, id: a }\nspec:\n\tcommand: [a]", ["f:3:1: Tabs are not allowed as indentation"]],
  ])("says what is wrong with %j", async ([text, expected]) => expect(await messages(text)).toEqual(expected));

  test("a mistake in one document hides no other", async () => {
    const good = (id: string) => `metadata: { type: test/note, id: ${id} }\n`;
    const broken = [
      'a: "never closed\n',
      "b: [1, {\n",
      "c: |\n d\n e\n  -\n",
      "{\n",
      "? ?\n",
      "*x\n",
      "- - -\n",
      "&a &b x: y\n",
      "\0\u0001\n",
    ];
    const text = broken.flatMap((one, i) => [one, good(`g${i}`)]).join("---\n");
    const { resources, errors } = await parse(text);
    expect(resources.map(({ metadata }) => metadata.id)).toEqual(broken.map((_, i) => `g${i}`));
    const lines = text.split("\n");
    for (const { line } of errors) expect(lines[line - 1]).not.toContain("test/note");
    expect(new Set(errors.map(({ line }) => lines.slice(0, line).filter((one) => one === "---").length)).size).toBe(
      broken.length,
    );
  });

  test("a resource that is there twice is a mistake where it is repeated", async () => {
    const text =
      "metadata: { type: test/note, id: a }\n---\nmetadata: { type: test/note, namespace: notes, id: a }\n---\nmetadata: { type: test/note, namespace: b, id: a }";
    const { resources } = await parse(text);
    expect(resources).toHaveLength(2);
    expect(await messages(text)).toEqual(["f:3:48: metadata.id: test/note(notes/a) is there already, at f:1:1"]);
  });

  test("resources whose names only look alike are two", async () => {
    const text =
      "metadata: { type: test/note, namespace: a/b, id: c }\n---\nmetadata: { type: test/note, namespace: a, id: b/c }";
    expect((await parse(text)).resources).toHaveLength(2);
  });

  test("errors carry file, line, column, field and code", async () => {
    const { errors } = await parse("\n\nmetadata: { type: test/note, id: a }\nspec: { text: 1 }", "notes.yaml");
    expect(errors[0]).toBeInstanceOf(YamlError);
    expect(errors[0]).toMatchObject({
      file: "notes.yaml",
      line: 4,
      column: 9,
      field: "spec.text",
      code: "invalid",
      reason: "must be a string, got 1",
    });
  });

  test("tells where a field of a resource stands, for those who look closer", async () => {
    const text = "# note\nmetadata:\n  type: svc\n  id: web\nspec:\n  command:\n    - a\n    - b\n  env: &e { A: x }\n";
    const manifests = await parse(text, "f");
    const [web] = manifests.resources;
    if (web === undefined) throw new Error("no resource");
    const at = (...path: (string | number)[]) => {
      const { line, column } = manifests.positionOf(web, ...path) ?? {};
      return [line, column];
    };
    expect(at()).toEqual([2, 1]);
    expect(at("metadata", "id")).toEqual([4, 3]);
    expect(at("spec", "command", 1)).toEqual([8, 7]);
    expect(at("spec", "env", "A")).toEqual([9, 13]);
    expect(at("spec", "env", "B", 7)).toEqual([9, 3]);
    expect(at("spec", "command", 9)).toEqual([6, 3]);
    expect(at("nothing")).toEqual([2, 1]);
    expect(manifests.positionOf(Note.create("a", {}))).toBeUndefined();
  });

  test("a schema that throws hides no other document", async () => {
    const Moody = defineResource({
      type: "test/moody",
      spec: shape((value) => value),
    });
    const Throwing = defineResource({
      type: "test/throwing",
      spec: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: () => {
            throw new Error("out of order");
          },
        },
      },
    });
    const text = "metadata: { type: test/throwing, id: a }\nspec: {}\n---\nmetadata: { type: test/moody, id: a }";
    const { resources, errors } = await parseManifests(text, { types: [Moody, Throwing] });
    expect(resources).toHaveLength(1);
    expect(errors.map(({ message }) => message)).toEqual([
      "line 2, column 1: spec: test/throwing(default/a) cannot be checked: out of order",
    ]);
  });
});

describe("texts that are kept", () => {
  test.each([
    ["0022", "0022"],
    ["1.10", "1.10"],
    ["yes", "yes"],
    ["1e3", "1e3"],
    ["0x1F", "0x1F"],
    ["true", "true"],
    ["~", "~"],
    ["", ""],
    ["'0022'", "0022"],
    ["*anchored", "010"],
    ["12345678901234567890123", "12345678901234567890123"],
  ])("a field that keeps its text has %s as %s, and others have what YAML reads", async (written, kept) => {
    const Env = defineResource({
      type: "Envs.example.dev",
      spec: z.object({ first: z.number(), env: z.record(z.string(), z.string()) }),
    });
    const { resources, errors } = await parseManifests(
      `metadata: { type: env, id: a }\nspec:\n  first: &anchored 010\n  env:\n    X: ${written}\n`,
      { types: [Env], keepText: ([, field, key]) => field === "env" && key !== undefined },
    );
    expect(errors).toEqual([]);
    expect(resources[0]?.spec).toEqual({ first: 10, env: { X: kept } });
  });
});

describe("hostile manifests", () => {
  test("prototype keys are keys like any other", async () => {
    const Any = defineResource({ type: "test/any", spec: shape((value) => value) });
    const text =
      "metadata: { type: test/any, id: a, labels: { __proto__: x, constructor: y } }\nspec: { __proto__: { polluted: true }, toString: 1 }";
    const { resources } = await parseManifests(text, { types: [Any] });
    const [one] = resources;
    expect(Object.entries(one?.metadata.labels ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(Object.keys(one?.spec as object)).toEqual(["__proto__", "toString"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    for (const key of ["__proto__", "constructor", "toString"]) {
      expect(await messages(`${key}: {}\nmetadata: { type: test/note, id: a }`)).toHaveLength(1);
      expect(await messages(`metadata: { type: ${key}, id: a }`)).toHaveLength(1);
    }
  });

  test("aliases cannot blow a document up", async () => {
    let text = "metadata: { type: svc, id: a }\nspec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (let i = 1; i < 10; i++)
      text += `  a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]\n`;
    const { resources, errors } = await parse(text);
    expect(resources).toEqual([]);
    expect(errors[0]?.message).toContain("aliases add more than 100000 nodes to the document");
  });

  test("a long text is refused unread", async () => {
    const { errors } = await parseManifests("x".repeat(101), { types, maxLength: 100, file: "f" });
    expect(errors.map(({ message }) => message)).toEqual([
      "f:1:1: the text has 101 characters, more than the 100 allowed",
    ]);
  });

  const deep = 4_000;
  test.for<[string, string]>([
    ["lists", "[".repeat(deep) + "]".repeat(deep)],
    ["open lists", "[".repeat(deep)],
    ["mappings", "{a: ".repeat(deep)],
    ["dashes", "- ".repeat(deep)],
    ["questions", "? ".repeat(deep)],
    ["indentation", Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["keys", Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join("\n")],
    ["equal keys", "a: 1\n".repeat(5_000)],
    ["quotes", '"'.repeat(deep)],
    ["anchors", "&a ".repeat(deep)],
    ["anchored items", "- &a x\n- *a\n".repeat(2_500)],
    ["tags", "!a ".repeat(deep)],
    ["comments", "#\n".repeat(deep)],
    ["documents", "---\na\n".repeat(2_000)],
    ["directives", "%A\n".repeat(deep)],
    ["tabs", "\t".repeat(deep)],
    ["a number", `a: ${"9".repeat(200_000)}`],
    ["colons", ": ".repeat(deep)],
    ["blocks", `a: |\n${" x\n".repeat(deep)}`],
    ["commas", `[${",".repeat(deep)}]`],
  ])("%s without end take no time without end", { timeout: 20_000 }, async ([, body]) => {
    for (const text of [body, `metadata: { type: svc, id: a }\nspec:\n${body.replace(/^/gm, "  ")}`]) {
      const { resources, errors } = await parse(text);
      expect(resources.length + errors.length).toBeGreaterThanOrEqual(0);
      for (const error of errors) expect(error).toBeInstanceOf(YamlError);
    }
  });

  test("nesting that nobody writes is called that", async () => {
    for (const body of ["[".repeat(50_000), `spec: ${"[".repeat(50_000)}${"]".repeat(50_000)}`, "- ".repeat(50_000)]) {
      const { errors } = await parse(body);
      expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("nested too deeply")]);
    }
  });

  test("nesting that only aliases make is no deeper", async () => {
    const layer = (i: number, inner: string): string => `- &a${i} ${"[".repeat(300)}${inner}${"]".repeat(300)}\n`;
    const layers = Array.from({ length: 15 }, (_, i) => layer(i, i === 0 ? "x" : `*a${i - 1}`));
    const { errors } = await parse(`metadata: { type: svc, id: a }\nspec:\n${layers.join("")}`);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("nested deeper than 500 levels")]);
  });

  test("tells which documents have no spec", async () => {
    const { resources, withoutSpec } = await parse(
      "metadata: { type: test/note, id: a }\n---\nspec:\nmetadata: { type: test/note, id: b }\n",
    );
    expect(resources.map((one) => [one.metadata.id, withoutSpec.has(one)])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("takes other types from whoever knows them, under the names that no type has", async () => {
    const asked: string[] = [];
    const { resources, errors } = await parseManifests(
      "metadata: { type: svc, id: a }\nspec: { command: [x] }\n---\nmetadata: { type: Guests.example.dev, id: b }\n---\nmetadata: { type: Nobody, id: c }\n",
      {
        types,
        otherTypes: (name) => {
          asked.push(name);
          return name === "Guests.example.dev" ? Note : undefined;
        },
      },
    );
    expect(resources.map(({ metadata }) => metadata.type)).toEqual([Service.type, Note.type]);
    expect(errors.map(({ field }) => field)).toEqual(["metadata.type"]);
    expect(asked).toEqual(["Guests.example.dev", "Nobody"]);
  });

  const token = fc.constantFrom(
    "metadata",
    "spec",
    "type",
    "id",
    "labels",
    "svc",
    "test/note",
    "text",
    "command",
    ":",
    ": ",
    " ",
    "  ",
    "\n",
    "\n  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    '"',
    "|",
    ">",
    "&a",
    "*a",
    "!t",
    "!!binary",
    "%",
    "#",
    "---\n",
    "...\n",
    "\t",
    "?",
    "~",
    "1",
    ".nan",
    "\0",
    "\u2028",
    "😀",
    "<<",
  );
  const soup = fc.array(token, { maxLength: 40 }).map((parts) => parts.join(""));
  const noise = fc.tuple(
    fc.nat(),
    fc.constantFrom(":", " ", "\n", "[", "}", '"', "'", "*a", "&a ", "\t", "|", "\n---\n", "!", "0"),
  );
  const mutated = fc.array(noise, { minLength: 1, maxLength: 5 }).map((changes) => {
    let text =
      "metadata:\n    type: svc\n    id: web\n    labels: { a: b }\nspec:\n    command: [node, 'web.js']\n    env:\n        A: \"1\"\n---\nmetadata: { type: test/note, id: n }\n";
    for (const [at, insert] of changes)
      text = text.slice(0, at % text.length) + insert + text.slice((at % text.length) + (at % 3));
    return text;
  });
  property.prop([fc.oneof(soup, mutated, fc.string({ unit: "binary" }))], { numRuns: 600 })(
    "whatever comes is read or reported, each place within the text",
    async (text) => {
      const { resources, errors, positions } = await parse(text, "f");
      const lines = text.split("\n").length;
      for (const error of errors) {
        expect(error).toBeInstanceOf(YamlError);
        expect(error.line).toBeGreaterThanOrEqual(1);
        expect(error.line).toBeLessThanOrEqual(lines);
        expect(error.message).toBe(
          `f:${error.line}:${error.column}: ${error.field === undefined ? "" : `${error.field}: `}${error.reason}`,
        );
      }
      expect(positions.size).toBe(resources.length);
    },
  );
});
