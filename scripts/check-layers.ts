// Holds the layers: which folder may import which, which third-party package lives in which room, which built-in
// modules the core may touch. `npm run lint` runs it; oxlint adds `import/no-cycle` for cycles inside a folder.
//
// It looks at every form an import can take: static, type-only, re-export, dynamic, and `import("…")` in a type.
// Another root than the repository's can be given as the first argument.

import { readFileSync, globSync } from "node:fs";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import { parseSync } from "oxc-parser";

interface Layer {
  /** Folders of `src/` that its files may import. */
  readonly imports: readonly string[];
  /** Third-party packages that its files may import. Type-only imports count as well. */
  readonly packages?: readonly string[];
  /** Whether its files may import Node's built-in modules. Default: none, so that they run in a browser as well. */
  readonly builtins?: "all";
}

/** Every folder of `src/`, lowest first. A folder that is not here is refused. */
const LAYERS: Readonly<Record<string, Layer>> = {
  clock: { imports: [] },
  internal: { imports: [] },
  log: { imports: ["internal"] },
  wire: { imports: [] },
  resource: {
    imports: ["wire", "internal"],
    packages: ["@standard-schema/spec", "pluralize", "re2js"],
  },
  state: { imports: ["resource", "internal", "clock"] },
  store: { imports: ["state", "resource", "internal", "clock"] },
  memory: { imports: ["store", "state", "resource", "internal", "clock"] },
  controller: { imports: ["state", "resource", "internal", "log", "clock"] },
  tasks: { imports: ["internal", "log", "clock"] },
  runtime: { imports: ["controller", "state", "resource", "internal", "log", "clock"] },
  yaml: { imports: ["resource", "internal"], packages: ["yaml"] },
  protobuf: {
    imports: ["yaml", "resource", "internal", "wire"],
    packages: ["@bufbuild/protobuf", "@standard-schema/spec"],
    builtins: "all",
  },
  // Its contents are in memory as well.
  sqlite: { imports: ["memory", "store", "protobuf", "resource", "internal"], builtins: "all" },
  rpc: { imports: ["internal", "log", "clock"], builtins: "all" },
  grpc: {
    imports: ["rpc", "protobuf", "state", "resource", "internal", "wire", "log", "clock"],
    packages: ["@bufbuild/protobuf"],
    builtins: "all",
  },
  plane: {
    imports: ["grpc", "runtime", "memory", "controller", "state", "resource", "internal", "log", "clock"],
  },
  http: { imports: ["runtime", "log", "internal"], packages: ["prom-client"], builtins: "all" },
  cli: {
    imports: [
      "plane",
      "http",
      "runtime",
      "grpc",
      "sqlite",
      "yaml",
      "memory",
      "state",
      "resource",
      "clock",
      "internal",
      "log",
    ],
    packages: ["@viz-js/viz", "commander", "diff", "jsonpath-rfc9535", "rfc6902"],
    builtins: "all",
  },
  testing: {
    imports: ["runtime", "controller", "memory", "state", "resource", "internal", "wire", "log", "clock"],
    builtins: "all",
  },
};

/**
 * Folders inside a folder of `src/`, and which of their neighbours they may import. Files on the first level may be
 * used by every room beside them and may use every room; what is not here may have no room inside.
 */
const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  resource: { labels: ["metadata"], metadata: [], spec: [], type: ["labels", "metadata", "spec"] },
  state: { derive: [], views: [] },
  controller: { ready: [] },
  rpc: { http2: [], server: ["http2"], client: ["http2", "server"] },
  grpc: {
    gen: [],
    messages: [],
    session: ["gen"],
    server: ["session", "messages", "gen"],
    client: ["session", "messages"],
  },
  runtime: {
    metrics: [],
    graph: [],
    explain: ["graph"],
    causes: [],
    cache: ["metrics"],
    registration: ["graph", "causes", "explain"],
    guard: ["cache", "causes", "graph", "metrics"],
    intake: ["cache", "causes", "graph", "metrics"],
    classic: ["registration", "guard", "explain", "causes", "metrics"],
    queue: ["guard", "explain", "causes", "metrics"],
  },
  plane: { engine: [] },
  cli: {
    connect: ["args"],
    args: ["connect", "print"],
    print: ["args"],
    apply: ["args", "print"],
    commands: ["apply", "args", "connect", "print"],
    program: ["args", "commands", "connect"],
  },
  testing: { assert: [], faults: [], suites: ["assert", "faults"] },
};

/** Files of these folders may be imported one by one; every other folder only through its `index.ts`. */
const WITHOUT_INDEX: ReadonlySet<string> = new Set(["internal"]);

/** Files that load what a user names; everywhere else the name of a module is a literal. */
const LOADS_USER_CODE: ReadonlySet<string> = new Set(["src/cli/commands/serve/run.ts"]);

/** Folders that use the package as its users do: by its name, never by a path into `src/`. */
const USERS: ReadonlySet<string> = new Set(["examples", "bench"]);

interface Import {
  readonly specifier: string;
  readonly line: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function literalOf(value: unknown): string | undefined {
  return isNode(value) && value.type === "Literal" && typeof value["value"] === "string" ? value["value"] : undefined;
}

function importsOf(file: string, text: string): Import[] {
  const { program, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const found: Import[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    // All the node types that name a module do it in `source`.
    const specifier = literalOf(value["source"]);
    if (specifier !== undefined) {
      const line = text.slice(0, value.start).split("\n").length;
      found.push({ specifier, line });
    } else if (value.type === "ImportExpression") {
      const line = text.slice(0, value.start).split("\n").length;
      found.push({ specifier: "(computed)", line });
    }
    Object.values(value).forEach(visit);
  };
  visit(program);
  return found;
}

const isTest = (file: string): boolean => /\.test(-d)?\.ts$/.test(file);
const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** Permissions that some file made use of, as `folder what`: the others are taken away. */
const used = new Set<string>();

/** Says why a file of `folder`, at `from` below it, may not import `to` of the same folder; undefined when it may. */
function roomObjection(folder: string, from: readonly string[], to: readonly string[]): string | undefined {
  const [room, other] = [roomOf(from), roomOf(to)];
  if (room === undefined || other === undefined || room === other) return undefined;
  used.add(`${folder}/${room} ${other}`);
  if (ROOMS[folder]?.[room]?.includes(other) === true) return undefined;
  return `${folder}/${room} may not import ${folder}/${other}`;
}

/** The room of a path below a folder of `src/`; undefined for a file on its first level. */
function roomOf(path: readonly string[]): string | undefined {
  return path.length > 1 ? path[0] : undefined;
}

/** Says why `file` (relative to the root, with `/`) may not import `specifier`; undefined when it may. */
function objection(file: string, { specifier }: Import): string | undefined {
  const [top = "", second = ""] = file.split("/");
  const target = specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : undefined;

  if (top !== "src") {
    if (USERS.has(top) && target?.startsWith("src/") === true) return `${top} uses the package by its name`;
    return undefined;
  }
  if (specifier === "(computed)") {
    return LOADS_USER_CODE.has(file) ? undefined : "the module's name must be a literal";
  }

  const folder = second.includes(".") ? undefined : second;
  const layer = folder === undefined ? undefined : LAYERS[folder];
  if (folder !== undefined && layer === undefined) return `folder ${folder} has no layer; give it one in this script`;
  const below = file.split("/").slice(2);
  const room = roomOf(below);
  if (folder !== undefined && room !== undefined && ROOMS[folder]?.[room] === undefined) {
    return `room ${folder}/${room} is not known; give it a line in this script`;
  }

  if (target === undefined) {
    // Tests may use what they like; what they import reaches no user.
    if (isTest(file)) return undefined;
    if (specifier.startsWith("node:")) {
      if (layer?.builtins === "all") return undefined;
      return `${folder ?? "src"} runs anywhere and does not use ${specifier}`;
    }
    used.add(`${folder} ${packageOf(specifier)}`);
    if (layer?.packages?.includes(packageOf(specifier)) === true) return undefined;
    return `${packageOf(specifier)} is not for ${folder ?? "src"}`;
  }

  if (!target.startsWith("src/")) {
    // The messages that our own codecs are held against are generated for the tests alone.
    if (isTest(file) && target.startsWith("test/gen/")) return undefined;
    return "src imports nothing from outside src";
  }
  const [, other = "", ...rest] = target.split("/");
  if (other.includes(".")) return folder === undefined ? undefined : "nothing imports the package's own entry";
  if (other === folder) {
    if (isTest(file)) return undefined;
    if (rest.join("/") === "index.ts") return "files of a folder import each other, not their own index.ts";
    return roomObjection(other, below, rest);
  }
  if (!WITHOUT_INDEX.has(other) && rest.join("/") !== "index.ts") return `import ${other} through its index.ts`;
  if (folder === undefined || layer === undefined || isTest(file)) return undefined;
  used.add(`${folder} ${other}`);
  if (layer.imports.includes(other)) return undefined;
  return `${folder} may not import ${other}`;
}

/** The first cycle among `files`, type-only imports included. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const walk = (file: string): string[] | undefined => {
    if (done.has(file)) return undefined;
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = walk(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = walk(file);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Permissions of the two tables that no file needs: each would let an arrow in that the house does not have. */
function unusedPermissions(): string[] {
  const granted = Object.entries(LAYERS).flatMap(([folder, { imports, packages = [] }]) =>
    [...imports, ...packages].map((other) => `${folder} ${other}`),
  );
  const inside = Object.entries(ROOMS).flatMap(([folder, rooms]) =>
    Object.entries(rooms).flatMap(([room, others]) => others.map((other) => `${folder}/${room} ${other}`)),
  );
  return [...granted, ...inside]
    .filter((permission) => !used.has(permission))
    .map(
      (permission) => `scripts/check-layers.ts: no file needs the permission "${permission.replace(" ", " imports ")}"`,
    );
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const files = globSync("{src,test,examples,bench,scripts}/**/*.ts", { cwd: root, exclude: ["**/node_modules/**"] })
  .map((file) => file.split(sep).join("/"))
  .toSorted();

const problems: string[] = [];
const graph = new Map<string, readonly string[]>();
for (const file of files) {
  const imports = importsOf(file, readFileSync(join(root, file), "utf8"));
  for (const one of imports) {
    const reason = objection(file, one);
    if (reason !== undefined) problems.push(`${file}:${one.line}: "${one.specifier}": ${reason}`);
  }
  const local = imports.filter(({ specifier }) => specifier.startsWith("."));
  graph.set(
    file,
    local.map(({ specifier }) =>
      relative(root, resolve(root, dirname(file), specifier))
        .split(sep)
        .join("/"),
    ),
  );
}
const cycle = findCycle(graph);
if (cycle !== undefined) problems.push(`import cycle: ${cycle.join(" → ")}`);

// Another root than ours may hold a part of the house only.
if (process.argv[2] === undefined) problems.push(...unusedPermissions());

for (const problem of problems) console.error(problem);
console.log(`layers: ${files.length} files, ${problems.length === 0 ? "no problem" : `${problems.length} problem(s)`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
