// Generates the protobuf code afresh and compares: what is checked in must be what the .proto files say, and nothing else.

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const CHECKED_IN = join(ROOT, "src", "grpc", "gen");

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

const temporary = mkdtempSync(join(tmpdir(), "homeostat-generated-"));
try {
  buf("lint");
  // `-o` is put before the output folder of buf.gen.yaml.
  buf("generate", "-o", temporary);
  const generated = textsIn(join(temporary, "src", "grpc", "gen"));
  const checkedIn = textsIn(CHECKED_IN);
  if (generated.size === 0) throw new Error("buf generated nothing");
  const differing = [...new Set([...generated.keys(), ...checkedIn.keys()])].filter(
    (path) => generated.get(path) !== checkedIn.get(path),
  );
  if (differing.length > 0) {
    throw new Error(`not what the .proto files say: ${differing.join(", ")}; run \`npm run generate\``);
  }
  console.log(`generated: ${generated.size} files, as checked in`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
