import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseManifests } from "homeostat/yaml";
import { describe, expect, test } from "vitest";
import { newProject, typecheck } from "./new-project.ts";
import { ConfigFile, HealthCheck, Service } from "../examples/supervisor/resources/index.ts";

const run = promisify(execFile);
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file: string): Promise<string> => readFile(join(ROOT, file), "utf8");

/** The fenced blocks of a language, in order. */
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, name, code = ""]) =>
    name === language ? [code] : [],
  );
}

const node = (folder: string, ...args: readonly string[]) =>
  run(process.execPath, ["--conditions=source", ...args], { cwd: folder, timeout: 25_000 });

describe("the README", () => {
  test("opens with examples/taste, which has 25 lines at most", async () => {
    const taste = await read("examples/taste/main.ts");
    expect(blocksOf(await read("README.md"), "ts")[0]).toBe(taste);
    expect(taste.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  });

  test("shows what the example prints", async () => {
    const { stdout } = await node(ROOT, "examples/taste/main.ts");
    expect(stdout).toBe("{ value: '42' }\n");
  });
});

describe("Getting started", () => {
  /** The files that the page builds: the first line of each block says of which it is a part. */
  async function writeFiles(folder: string): Promise<readonly string[]> {
    const files = new Map<string, string>();
    for (const block of blocksOf(await read("docs/getting-started.md"), "ts")) {
      const name = /^\/\/ ([\w.-]+\.ts)/.exec(block)?.[1];
      expect(name, `a block without a file: ${block}`).toBeDefined();
      files.set(name ?? "", (files.get(name ?? "") ?? "") + block);
    }
    for (const [name, code] of files) await writeFile(join(folder, name), code);
    return [...files.keys()];
  }

  test("compiles as it stands", async () => {
    const folder = await newProject();
    expect(await writeFiles(folder)).toEqual(["greeter.ts", "main.ts", "greeter.test.ts"]);
    await typecheck(folder);
  });

  test("runs: its program writes the file and removes it, its test passes", async () => {
    const folder = await newProject();
    await writeFiles(folder);
    const main = await readFile(join(folder, "main.ts"), "utf8");
    // The reader sees the file for five seconds and then presses Ctrl-C; here nobody looks on.
    const hasty = main.replace("5_000", "50").replace(
      "await running;",
      `const { existsSync, readFileSync } = await import("node:fs");
       const until = async (holds) => { while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5)); };
       await until(() => existsSync("hello.txt") && readFileSync("hello.txt", "utf8") === "Hello again");
       await until(() => !existsSync("hello.txt"));
       process.kill(process.pid, "SIGINT");
       await running;
       console.log("done");`,
    );
    expect(hasty).not.toBe(main);
    await writeFile(join(folder, "main.ts"), hasty);
    expect((await node(folder, "main.ts")).stdout).toBe("done\n");
    const { stdout } = await node(folder, "--test", "--test-reporter=tap");
    expect(stdout).toMatch(/^# pass 1$/m);
    expect(await readdir(folder)).not.toContain("test.txt");
  });
});

describe("the other examples", () => {
  /** What their examples take for granted, by name. */
  const WORLD: Readonly<Record<string, string>> = {
    defineResource: `import { defineResource } from "homeostat";`,
    requeueAfter: `import { requeueAfter } from "homeostat";`,
    z: `import { z } from "zod";`,
    Service: `import { Service } from "./world.ts";`,
    ConfigFile: `import { ConfigFile } from "./world.ts";`,
    Int: `import { Int } from "./world.ts";`,
    Str: `import { Str } from "./world.ts";`,
    state: `import { state } from "./world.ts";`,
    text: `import { text } from "./world.ts";`,
    cert: `import { cert } from "./world.ts";`,
    key: `import { key } from "./world.ts";`,
    ca: `import { ca } from "./world.ts";`,
  };
  const WORLD_FILE = `
    import { defineResource, MemoryState } from "homeostat";
    import { z } from "zod";
    export const Service = defineResource({
      type: "Services.supervisor.example.dev",
      spec: z.object({ command: z.array(z.string()).min(1), restart: z.enum(["always", "never"]).default("always") }),
    });
    export const ConfigFile = defineResource({ type: "ConfigFiles.example.dev", spec: z.object({ path: z.string() }) });
    export const Int = defineResource({ type: "Ints.example.dev", spec: z.object({ value: z.number() }) });
    export const Str = defineResource({ type: "Strs.example.dev", spec: z.object({ value: z.string() }) });
    export const state = new MemoryState({ types: [Service, ConfigFile, Int, Str] });
    export const text = "";
    export const [cert, key, ca] = ["", "", ""];
  `;
  /** Files that the examples import. */
  const NEIGHBOURS: Readonly<Record<string, string>> = {
    "resources.ts": `export { Service, ConfigFile as ServiceStatus } from "./world.ts";`,
    "service-controller.ts": `
      import { queueController } from "homeostat";
      import { Service } from "./world.ts";
      export const serviceController = queueController({ name: "Services", primary: Service, reconcile: async () => {} });
    `,
    // What the generator of protobuf-es makes, as the compiler sees it.
    "gen/disks_pb.ts": `
      import type { Message } from "@bufbuild/protobuf";
      import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
      export declare const DiskSpecSchema: GenMessage<Message<"hw.DiskSpec"> & { sizeBytes: bigint; model: string }>;
    `,
  };

  /**
   * A block as a file: its imports and those of what it does not declare itself, then the rest in a function. A block
   * that is a whole file stays as it is.
   */
  function asFile(block: string): string {
    if (/^export default /m.test(block)) return block;
    const imports = block.match(/^import .*$/gm) ?? [];
    const body = block.replaceAll(/^import .*$/gm, "").replaceAll(/^export /gm, "");
    const uses = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(text);
    const given = Object.entries(WORLD).filter(
      ([name]) => uses(body, name) && !uses(body, `const ${name}`) && !uses(imports.join("\n"), name),
    );
    const head = [...imports, ...given.map(([, line]) => line)].join("\n");
    return `${head}\nexport async function example(): Promise<unknown> {\n${body}\nreturn undefined;\n}\n`;
  }

  test("have examples that compile", async () => {
    const folder = await newProject();
    for (const name of ["zod", "@bufbuild"]) {
      await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
    }
    await writeFile(join(folder, "world.ts"), WORLD_FILE);
    await mkdir(join(folder, "gen"));
    for (const [name, code] of Object.entries(NEIGHBOURS)) await writeFile(join(folder, name), code);
    let count = 0;
    // The first block of the README is a file of the repository.
    const blocks = blocksOf(await read("README.md"), "ts").slice(1);
    const ownTests = new Set(["getting-started.md"]);
    for (const page of await readdir(join(ROOT, "docs"))) {
      if (!ownTests.has(page)) blocks.push(...blocksOf(await read(`docs/${page}`), "ts"));
    }
    for (const block of blocks) await writeFile(join(folder, `example-${++count}.ts`), asFile(block));
    expect(count).toBeGreaterThan(10);
    await typecheck(folder, { noUnusedLocals: false });
  });
});

describe("the supervisor's page", () => {
  test("shows manifests that are right, with the defaults of what may be left out", async () => {
    const [yaml = ""] = blocksOf(await read("examples/supervisor/README.md"), "yaml");
    const { resources, errors } = await parseManifests(yaml, { types: [Service, HealthCheck, ConfigFile] });
    expect(errors).toEqual([]);
    const [service, check, file] = resources.map(({ spec }) => spec as Record<string, unknown>);
    const least = {
      service: Service.create("a", { command: ["node", "web.js"] }),
      check: HealthCheck.create("a", { service: "web", http: "http://127.0.0.1:1/" }),
      file: ConfigFile.create("a", { path: "web.json", template: "" }),
    };
    const empty = { env: {}, dependsOn: [], values: {}, restarts: [] };
    expect({ ...service, env: empty.env, dependsOn: empty.dependsOn }).toEqual(least.service.spec);
    expect({ ...check, http: "http://127.0.0.1:1/" }).toEqual(least.check.spec);
    expect({ ...file, template: "", values: empty.values, restarts: empty.restarts }).toEqual(least.file.spec);
  });
});

/** The anchors that headings get, as the usual renderers make them. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((one) =>
      one
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} -]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("links", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "docs", "examples"];

  async function markdownFiles(path: string): Promise<readonly string[]> {
    if (path.endsWith(".md")) return [path];
    const entries = await readdir(join(ROOT, path), { recursive: true });
    return entries.filter((entry) => entry.endsWith(".md")).map((entry) => join(path, entry));
  }

  test("to files of the repository lead to files that are there", async () => {
    const broken: string[] = [];
    let links = 0;
    for (const file of (await Promise.all(pages.map(markdownFiles))).flat()) {
      const text = (await read(file)).replaceAll(/^```.*?^```$/gms, "");
      for (const [, target = "", heading] of text.matchAll(/\]\(([^)#\s]+)(?:#([^)]*))?\)/g)) {
        if (/^https?:/.test(target)) continue;
        links++;
        const path = join(dirname(file), target);
        if (!existsSync(join(ROOT, path))) broken.push(`${file}: ${target}`);
        else if (heading !== undefined && !anchorsOf(await read(path)).has(heading)) {
          broken.push(`${file}: ${target}#${heading}`);
        }
      }
    }
    expect(broken).toEqual([]);
    expect(links).toBeGreaterThan(10);
  });
});
