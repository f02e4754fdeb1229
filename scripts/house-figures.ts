// How the house stands, in figures: `npm run figures`. It looks at `src/` without tests and generated code, names what
// is over a limit, and ends with 1 when something is.
//
//   median file ≤ 90 lines · no file > 300 · no function > 60 lines · complexity ≤ 15 · ≤ 16 files a folder
//   no `any`, no `!` · exports documented ≥ 95 % (check-exports.ts asks for all) · repeated blocks of six lines or more
//
// Cycles, layers and doc comments are held by `npm run lint`; this tells what only a person can weigh.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { parseSync } from "oxc-parser";

const ROOT = join(import.meta.dirname, "..");
const LIMITS = { median: 90, file: 300, functionLines: 60, complexity: 15, folder: 16, block: 6 } as const;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface FunctionFigures {
  readonly place: string;
  readonly lines: number;
  readonly complexity: number;
}

interface FileFigures {
  readonly file: string;
  readonly lines: readonly string[];
  readonly functions: readonly FunctionFigures[];
  /** Places of `any` and of `!` after an expression. */
  readonly escapes: readonly string[];
}

const BRANCHES: ReadonlySet<string> = new Set([
  "IfStatement",
  "ConditionalExpression",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
  "CatchClause",
  "LogicalExpression",
]);
const FUNCTIONS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Branches of a function's own, those of functions inside it not counted, plus one. */
function complexityOf(node: Node): number {
  let branches = 0;
  const visit = (child: Node): void => {
    if (FUNCTIONS.has(child.type)) return;
    if (BRANCHES.has(child.type) || (child.type === "SwitchCase" && child["test"] !== null)) branches++;
    childrenOf(child).forEach(visit);
  };
  childrenOf(node).forEach(visit);
  return branches + 1;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function figuresOf(file: string): FileFigures {
  const text = readFileSync(join(ROOT, file), "utf8");
  const { program } = parseSync(file, text);
  const functions: FunctionFigures[] = [];
  const escapes: string[] = [];
  const visit = (node: Node): void => {
    const first = lineAt(text, node.start);
    if (FUNCTIONS.has(node.type)) {
      const lines = lineAt(text, node.end) - first + 1;
      functions.push({ place: `${file}:${first}`, lines, complexity: complexityOf(node) });
    }
    if (node.type === "TSAnyKeyword" || node.type === "TSNonNullExpression") escapes.push(`${file}:${first}`);
    childrenOf(node).forEach(visit);
  };
  if (isNode(program)) visit(program);
  return { file, lines: text.trimEnd().split("\n"), functions, escapes };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Places at which the same six lines or more stand, imports and lone brackets aside, longest first. */
function repeatedBlocks(files: readonly FileFigures[]): string[] {
  const seen = new Map<string, string[]>();
  for (const { file, lines } of files) {
    const code = lines
      .map((line, i) => ({ text: line.trim(), line: i + 1 }))
      .filter(({ text }) => text.length > 3 && !/^(import|export|\}|\/\/|\/?\*|type |[A-Za-z]+,$)/.test(text));
    for (let i = 0; i + LIMITS.block <= code.length; i++) {
      const block = code.slice(i, i + LIMITS.block);
      const [first, last] = [block[0]?.line ?? 0, block.at(-1)?.line ?? 0];
      // Lines that belong together stand close together.
      if (last - first > 2 * LIMITS.block) continue;
      const key = block.map(({ text }) => text).join("\n");
      seen.set(key, [...(seen.get(key) ?? []), `${file}:${first}`]);
    }
  }
  const pairs = [...seen.values()].filter((places) => places.length > 1);
  return [...new Set(pairs.map((places) => places.map((place) => place.replace(/:\d+$/, "")).join(" = ")))].map(
    (pair) => {
      const places = pairs.find((one) => one.map((place) => place.replace(/:\d+$/, "")).join(" = ") === pair);
      return places?.join(" = ") ?? pair;
    },
  );
}

function filesPerFolder(files: readonly FileFigures[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { file } of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return counts;
}

let over = 0;
function report(title: string, limit: string, problems: readonly string[]): void {
  over += problems.length;
  console.log(`${title} (${limit}): ${problems.length === 0 ? "none over" : `${problems.length} over`}`);
  for (const problem of problems) console.log(`  ${problem}`);
}

const files = globSync("src/**/*.ts", { cwd: ROOT })
  .map((path) => path.split(sep).join("/"))
  .filter((path) => !path.includes("/gen/") && !/\.test(-d)?\.ts$/.test(path))
  .toSorted()
  .map(figuresOf);
const lengths = files.map(({ lines }) => lines.length);
const functions = files.flatMap((one) => one.functions);
const middle = median(lengths);

console.log(`${files.length} files, ${lengths.reduce((a, b) => a + b, 0)} lines, median file ${middle}`);
report("median file", `≤ ${LIMITS.median} lines`, middle > LIMITS.median ? [`${middle}`] : []);
report(
  "files",
  `≤ ${LIMITS.file} lines`,
  files.filter(({ lines }) => lines.length > LIMITS.file).map(({ file, lines }) => `${file}: ${lines.length}`),
);
report(
  "functions",
  `≤ ${LIMITS.functionLines} lines`,
  functions.filter(({ lines }) => lines > LIMITS.functionLines).map(({ place, lines }) => `${place}: ${lines}`),
);
report(
  "complexity",
  `≤ ${LIMITS.complexity}`,
  functions
    .filter(({ complexity }) => complexity > LIMITS.complexity)
    .map(({ place, complexity }) => `${place}: ${complexity}`),
);
report(
  "folders",
  `≤ ${LIMITS.folder} files on a level`,
  [...filesPerFolder(files)]
    .filter(([, count]) => count > LIMITS.folder)
    .map(([folder, count]) => `${folder}: ${count}`),
);
report(
  "any and !",
  "0",
  files.flatMap((one) => one.escapes),
);
const blocks = repeatedBlocks(files);
console.log(`repeated blocks of ${LIMITS.block} lines or more: ${blocks.length}`);
for (const block of blocks) console.log(`  ${block}`);
process.exitCode = over === 0 ? 0 : 1;
