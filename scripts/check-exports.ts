// Holds the faces of the rooms: each name that leaves a folder of `src/` through its index.ts has a doc comment where
// it is declared, and the front door (`src/index.ts`) has at most 60 names. Part of `npm run lint`.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve, sep } from "node:path";
import { parseSync } from "oxc-parser";

const MAX_FRONT_DOOR_NAMES = 60;
const FRONT_DOOR = "src/index.ts";

interface Declared {
  readonly line: number;
  readonly documented: boolean;
}

interface Module {
  /** Name → where it is declared here. */
  readonly declared: ReadonlyMap<string, Declared>;
  /** Exported name → the module and name it stands for. */
  readonly reexported: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const modules = new Map<string, Module>();

function moduleAt(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const read = readModule(file, readFileSync(join(root, file), "utf8"));
  modules.set(file, read);
  return read;
}

function readModule(file: string, text: string): Module {
  const { program, comments, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const docEnds = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*")).map(({ end }) => end);
  const declared = new Map<string, Declared>();
  const reexported = new Map<string, { from: string; name: string }>();
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const documented = docEnds.some((end) => end <= statement.start && text.slice(end, statement.start).trim() === "");
    const line = text.slice(0, statement.start).split("\n").length;
    for (const name of namesOf(statement.declaration)) {
      // Overloads and a type beside a value of the same name: one comment is enough.
      declared.set(name, { line, documented: documented || declared.get(name)?.documented === true });
    }
    if (statement.source === null) continue;
    const from = posix.join(posix.dirname(file), statement.source.value);
    for (const { local, exported } of statement.specifiers) {
      if (local.type === "Literal" || exported.type === "Literal") continue;
      reexported.set(exported.name, { from, name: local.name });
    }
  }
  return { declared, reexported };
}

/** Names that an exported declaration introduces. */
function namesOf(declaration: unknown): string[] {
  if (typeof declaration !== "object" || declaration === null) return [];
  if ("id" in declaration) return nameOf(declaration.id);
  if (!("declarations" in declaration) || !Array.isArray(declaration.declarations)) return [];
  return declaration.declarations.flatMap((one: { id?: unknown }) => nameOf(one.id));
}

function nameOf(id: unknown): string[] {
  return typeof id === "object" && id !== null && "name" in id && typeof id.name === "string" ? [id.name] : [];
}

/** Follows re-exports to where `name` is declared; undefined when it comes from a package. */
function declarationOf(file: string, name: string): (Declared & { readonly file: string }) | undefined {
  if (!existsSync(join(root, file))) return undefined;
  const { declared, reexported } = moduleAt(file);
  const here = declared.get(name);
  if (here !== undefined) return { ...here, file };
  const next = reexported.get(name);
  return next === undefined ? undefined : declarationOf(next.from, next.name);
}

const indexes = globSync("src/{*/,}index.ts", { cwd: root }).map((path) => path.split(sep).join("/"));
const problems = new Set<string>();
let names = 0;
for (const index of indexes) {
  const { reexported } = moduleAt(index);
  names += reexported.size;
  for (const name of reexported.keys()) {
    const found = declarationOf(index, name);
    if (found === undefined || found.documented) continue;
    problems.add(`${found.file}:${found.line}: ${name} leaves ${dirname(index)} without a doc comment`);
  }
  if (index === FRONT_DOOR && reexported.size > MAX_FRONT_DOOR_NAMES) {
    problems.add(`${index}: ${reexported.size} names; the front door has room for ${MAX_FRONT_DOOR_NAMES}`);
  }
}

for (const problem of problems) console.error(problem);
const verdict = problems.size === 0 ? "no problem" : `${problems.size} problem(s)`;
console.log(`exports: ${names} names in ${indexes.length} indexes, ${verdict}`);
process.exitCode = problems.size === 0 ? 0 : 1;
