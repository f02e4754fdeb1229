// Generates the protobuf code afresh and compares: what is checked in must be what the .proto files say, and nothing else.

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
/** Template → where its code is checked in. */
const GENERATED = { "buf.gen.yaml": "src/grpc/gen", "buf.gen.test.yaml": "test/gen" };

/** Which of them has the descriptors as well. */
const DESCRIPTORS = "src/grpc/gen";

function describe(path: string): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, "scripts/generate-descriptors.ts"), path], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`scripts/generate-descriptors.ts ended with ${status}`);
}

function buf(...args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(join(ROOT, "node_modules", ".bin", "buf"), args, {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`buf ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
}

/** Path → text of every file below `folder`. */
function textsIn(folder: string): ReadonlyMap<string, string> {
  const paths = globSync("**/*.ts", { cwd: folder }).toSorted();
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

function compare(template: string, folder: string): void {
  // `-o` is put before the output folder of the template.
  buf("generate", "--template", template, "-o", temporary);
  if (folder === DESCRIPTORS) describe(join(temporary, folder, "descriptors.ts"));
  const generated = textsIn(join(temporary, folder));
  const checkedIn = textsIn(join(ROOT, folder));
  if (generated.size === 0) throw new Error(`buf generated nothing for ${folder}`);
  const differing = [...new Set([...generated.keys(), ...checkedIn.keys()])].filter(
    (path) => generated.get(path) !== checkedIn.get(path),
  );
  if (differing.length > 0) {
    throw new Error(`not what the .proto files say: ${differing.join(", ")}; run \`npm run generate\``);
  }
  console.log(`${folder}: ${generated.size} files, as checked in`);
}

const temporary = mkdtempSync(join(tmpdir(), "homeostat-generated-"));
try {
  buf("lint");
  for (const [template, folder] of Object.entries(GENERATED)) compare(template, folder);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
