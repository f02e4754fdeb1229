// Holds the ports: time, scheduling and randomness come from a `Clock`, a `random` option or an `epoch`, so that a whole
// control plane can run deterministically. A direct use of the ambient ones is refused outside the files named here,
// and so are, in the rooms that run anywhere, globals that only Node has. `npm run lint` runs it. Tests may do as they
// like. Another root than the repository's can be given as the first argument.

import { globSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { parseSync } from "oxc-parser";

/** Globals that tell the time, plan work, draw random numbers, or depend on the garbage collector or the locale. */
const AMBIENT_GLOBALS: ReadonlySet<string> = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "performance",
  "crypto",
  "scheduler",
  "Temporal",
  "Intl",
  "WeakRef",
  "FinalizationRegistry",
]);

/** Members of globals that do so; the rest of each is fine. */
const AMBIENT_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Math", new Set(["random"])],
  ["Date", new Set(["now"])],
  ["AbortSignal", new Set(["timeout"])],
  ["process", new Set(["nextTick", "hrtime", "uptime", "memoryUsage"])],
]);

/** Modules that do so; of the second list, only the names that match. */
const AMBIENT_MODULES: ReadonlySet<string> = new Set(["node:timers", "node:timers/promises", "node:perf_hooks"]);
const RANDOM_NAME = /^random|getRandomValues/;

const NODE_GLOBALS: ReadonlySet<string> = new Set([
  "process",
  "Buffer",
  "global",
  "require",
  "__dirname",
  "__filename",
]);

/** Folders of `src/` that stand on Node. All others run anywhere. */
const NODE_FOLDERS: ReadonlySet<string> = new Set([
  "cli",
  "cli.ts",
  "bin.cts",
  "grpc",
  "http",
  "protobuf",
  "rpc",
  "sqlite",
  "testing",
]);

interface Permission {
  readonly uses: readonly string[];
  readonly because: string;
}

const WIRE = "order within one turn of Node's streams, which Node fixes";

/** Where the ports meet the system, and the few places that must not go through one. */
const ALLOWED: Readonly<Record<string, Permission>> = {
  "src/clock/system-clock.ts": {
    uses: ["Date.now", "performance", "setInterval", "setTimeout"],
    because: "it is the system's clock",
  },
  "src/clock/macrotask.ts": { uses: ["setImmediate"], because: "the one way into the real event loop" },
  "src/log/console-logger.ts": { uses: ["Date.now"], because: "the default of `now`" },
  "src/log/json-logger.ts": { uses: ["Date.now"], because: "the default of `now`" },
  "src/http/observe.ts": { uses: ["process.memoryUsage"], because: "a metric of the process itself" },
  "src/runtime/runtime-options.ts": { uses: ["Math.random"], because: "the default of `random`" },
  "src/tasks/task.ts": { uses: ["Math.random"], because: "the default of `random`" },
  "src/grpc/client/client-options.ts": { uses: ["Math.random"], because: "the default of `random`" },
  "src/rpc/client/channel-options.ts": { uses: ["Math.random"], because: "the default of `random`" },
  "src/store/bookmark.ts": { uses: ["crypto"], because: "the default of a State's `epoch`" },
  "src/store/watcher-wakeups.ts": { uses: ["queueMicrotask"], because: "a microtask's place is fixed by the language" },
  "src/runtime/queue/dispatcher.ts": {
    uses: ["queueMicrotask"],
    because: "a microtask's place is fixed by the language",
  },
  "src/grpc/server/bearer-tokens.ts": { uses: ["randomBytes"], because: "a secret must not be predictable" },
  "src/grpc/session/server-session.ts": { uses: ["process.nextTick"], because: WIRE },
  "src/rpc/client/duplex-stream.ts": { uses: ["process.nextTick"], because: WIRE },
  "src/rpc/http2/node-http2-client.ts": { uses: ["setImmediate"], because: WIRE },
  "src/rpc/server/grpc-server.ts": { uses: ["queueMicrotask"], because: WIRE },
  "src/rpc/server/response/outgoing-budget.ts": { uses: ["process.nextTick"], because: WIRE },
  "src/rpc/server/response/outgoing-messages.ts": { uses: ["process.nextTick"], because: WIRE },
  "src/rpc/http2/tls-handshake.ts": {
    uses: ["Date.now"],
    because: "explains a verdict on a certificate, which TLS reached by the system's time",
  },
  "src/cli/main.ts": { uses: ["setTimeout"], because: "the end of the process" },
  "src/cli/print/text-width.ts": { uses: ["Intl"], because: "graphemes of a terminal" },
  "src/cli/apply/apply-manifest.ts": { uses: ["new Date()"], because: "a person's command, at the person's time" },
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

interface Use {
  readonly what: string;
  readonly at: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const nameOf = (value: unknown): string | undefined => {
  if (!isNode(value)) return undefined;
  if (value.type === "Identifier" && typeof value["name"] === "string") return value["name"];
  return value.type === "Literal" && typeof value["value"] === "string" ? value["value"] : undefined;
};

/** What an import declaration brings in that is ambient. */
function ambientImports(node: Node): string[] {
  const source = nameOf(node["source"]) ?? "";
  if (AMBIENT_MODULES.has(source)) return [source];
  if (source !== "node:crypto" && source !== "crypto") return [];
  const specifiers = Array.isArray(node["specifiers"]) ? node["specifiers"].filter(isNode) : [];
  return specifiers.flatMap(({ type, imported }) => {
    // Who takes the whole module can take anything of it.
    const name = type === "ImportSpecifier" ? nameOf(imported) : "randomBytes";
    return name !== undefined && RANDOM_NAME.test(name) ? [name] : [];
  });
}

/** `object.property`, when that is ambient or a Node global. */
function memberUse(object: string, property: string, known: ReadonlySet<string>): string | undefined {
  if (object === "globalThis") return known.has(property) ? property : undefined;
  return AMBIENT_MEMBERS.get(object)?.has(property) === true ? `${object}.${property}` : undefined;
}

/** What one node by itself uses; the nodes below it are looked at for themselves. */
function usesOf(node: Node, known: ReadonlySet<string>): string[] {
  const found = (what: string | undefined): string[] => (what === undefined ? [] : [what]);
  switch (node.type) {
    case "ImportDeclaration":
      return ambientImports(node);
    case "Identifier":
      return known.has(String(node["name"])) ? [String(node["name"])] : [];
    case "MemberExpression":
      return found(memberUse(nameOf(node["object"]) ?? "", nameOf(node["property"]) ?? "", known));
    case "VariableDeclarator":
      return destructured(node, known);
    case "NewExpression":
    case "CallExpression": {
      const isNow = nameOf(node["callee"]) === "Date" && Array.isArray(node["arguments"]) && !node["arguments"].length;
      return isNow ? ["new Date()"] : [];
    }
    default:
      return [];
  }
}

/** `const { random } = Math` */
function destructured({ id, init }: Node, known: ReadonlySet<string>): string[] {
  const properties =
    isNode(id) && id.type === "ObjectPattern" && Array.isArray(id["properties"]) ? id["properties"] : [];
  return properties.filter(isNode).flatMap(({ key }) => memberUse(nameOf(init) ?? "", nameOf(key) ?? "", known) ?? []);
}

/** Fields of a node that hold a mere name, no reference. */
function isName(node: Node, field: string): boolean {
  if (field === "property" || field === "key") return node["computed"] !== true && node["shorthand"] !== true;
  return field === "imported" || field === "exported" || (field === "label" && node.type.startsWith("TS"));
}

function usesIn(file: string, text: string, known: ReadonlySet<string>): Use[] {
  const { program, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const uses: Use[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    // A type tells the time of nothing.
    if (!isNode(value) || value.type === "TSTypeAnnotation" || value.type === "TSTypeParameterInstantiation") return;
    uses.push(...usesOf(value, known).map((what) => ({ what, at: value.start })));
    for (const [field, child] of Object.entries(value)) if (!isName(value, field)) visit(child);
  };
  visit(program);
  return uses;
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const files = globSync("src/**/*.{ts,cts}", { cwd: root })
  .map((file) => file.split(sep).join("/"))
  .filter((file) => !/\.test(-d)?\.ts$/.test(file))
  .toSorted();

const problems: string[] = [];
const used = new Set<string>();
for (const file of files) {
  const isPortable = !NODE_FOLDERS.has(file.split("/")[1] ?? "");
  const known = isPortable ? AMBIENT_GLOBALS.union(NODE_GLOBALS) : AMBIENT_GLOBALS;
  const text = readFileSync(join(root, file), "utf8");
  for (const { what, at } of usesIn(file, text, known)) {
    used.add(`${file} ${what}`);
    if (ALLOWED[file]?.uses.includes(what) === true) continue;
    const line = text.slice(0, at).split("\n").length;
    const cure = NODE_GLOBALS.has(what) ? "browsers lack it" : "take a Clock, a `random` or another port instead";
    problems.push(`${file}:${line}: ${what}: ${cure}`);
  }
}
// Another root than ours may hold a part of the house only.
if (process.argv[2] === undefined) {
  for (const [file, { uses }] of Object.entries(ALLOWED)) {
    const unused = uses.filter((what) => !used.has(`${file} ${what}`));
    for (const what of unused) problems.push(`scripts/check-ports.ts: ${file} does not use ${what}`);
  }
}

for (const problem of problems) console.error(problem);
console.log(`ports: ${files.length} files, ${problems.length === 0 ? "no problem" : `${problems.length} problem(s)`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
