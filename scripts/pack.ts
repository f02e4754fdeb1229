// Puts what gets published into `.package/`: the built files, README, licence, and a package.json without anything that
// only development needs. `npm publish .package` publishes it; the root itself is private and refuses.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const STAGE = join(ROOT, ".package");

/** What users get to see of package.json. Everything that is not here stays at home. */
const PUBLISHED_FIELDS = [
  "name",
  "version",
  "description",
  "keywords",
  "license",
  "homepage",
  "repository",
  "bugs",
  "type",
  "sideEffects",
  "exports",
  "bin",
  "files",
  "engines",
  "dependencies",
  "peerDependencies",
  "peerDependenciesMeta",
] as const;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The exports map without the condition that leads to the sources. */
function withoutSource(exports: unknown): unknown {
  if (!isRecord(exports)) return exports;
  const rest = Object.entries(exports).filter(([condition]) => condition !== "source");
  return Object.fromEntries(rest.map(([key, value]) => [key, withoutSource(value)]));
}

/** Fills `.package/` afresh from `dist/` and the root, and returns its path. */
export function stagePackage(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  if (!isRecord(manifest) || !Array.isArray(manifest["files"]))
    throw new TypeError("package.json has no list of files");
  const published = Object.fromEntries(
    PUBLISHED_FIELDS.filter((field) => field in manifest).map((field) => [field, manifest[field]]),
  );
  published["exports"] = withoutSource(manifest["exports"]);

  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(STAGE);
  for (const name of manifest["files"].map(String)) {
    if (!existsSync(join(ROOT, name))) throw new Error(`${name} is to be published and does not exist`);
    cpSync(join(ROOT, name), join(STAGE, name), { recursive: true });
  }
  writeFileSync(join(STAGE, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
  return STAGE;
}

if (import.meta.main) {
  if (process.argv.includes("--refuse-root")) {
    console.error(
      "The root is not what gets published: use `npm run stage`, then pack or publish the folder .package.",
    );
    process.exitCode = 1;
  } else {
    console.log(stagePackage());
  }
}
