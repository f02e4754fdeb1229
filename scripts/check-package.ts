// Checks what users get: builds and packs the package, looks at what is in it, lets publint and attw judge it, and then
// does what a user does: installs it in an empty folder, on the oldest supported Node and on the one of development,
// runs a small program there and type-checks that program against the published declarations.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { z } from "zod";
import { stagePackage } from "./pack.ts";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules", ".bin");
const CONSUMER = join(import.meta.dirname, "package-consumer.ts");

/** The oldest Node of `engines`, and the one that development runs on. */
const NODE_VERSIONS = ["22.18.0", "24.21.0"];

/** Everything that may be in the package. */
const ALLOWED_FILES = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^dist\/.+\.(js|js\.map|d\.ts)$/,
  /^dist\/bin\.(cjs|cjs\.map|d\.cts)$/,
];
const REFUSED_FILES = /\.test(-d)?\./;
const DEVELOPMENT_FIELDS = ["private", "scripts", "devDependencies", "optionalDependencies"];

const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
  exports: z.record(z.string(), z.unknown()),
});
const PackReport = z.array(
  z.object({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
);

function fail(message: string): never {
  throw new Error(message);
}

function readJson<S extends z.ZodType>(schema: S, path: string): z.output<S> {
  return schema.parse(JSON.parse(readFileSync(path, "utf8")));
}

interface RunOptions {
  readonly cwd: string;
  /** Folder to look in before the PATH. */
  readonly pathFirst?: string | undefined;
}

/** Runs a command to its end and returns what it wrote; a command that fails ends the check. */
function run(command: string, args: readonly string[], { cwd, pathFirst = BIN }: RunOptions): string {
  const env = { ...process.env, NO_COLOR: "1", PATH: `${pathFirst}${delimiter}${process.env["PATH"]}` };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) fail(`${command} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

async function step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`✓ ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return result;
}

function pack(stage: string, destination: string): z.output<typeof PackReport>[number] {
  const output = run("npm", ["pack", "--json", "--pack-destination", destination], { cwd: stage });
  const [report] = PackReport.parse(JSON.parse(output));
  return report ?? fail("npm packed nothing");
}

function checkContents(paths: readonly string[], manifest: z.output<typeof Manifest>): void {
  const refused = paths.filter(
    (path) => !ALLOWED_FILES.some((allowed) => allowed.test(path)) || REFUSED_FILES.test(path),
  );
  if (refused.length > 0) fail(`the package must not contain ${refused.join(", ")}`);
  const fields = DEVELOPMENT_FIELDS.filter((field) => field in manifest);
  if (fields.length > 0) fail(`the published package.json must not have ${fields.join(", ")}`);
  if (JSON.stringify(manifest.exports).includes('"source"')) fail("the published exports lead to the sources");
}

async function lintPackage(tarball: string): Promise<void> {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
    strict: true,
  });
  if (messages.length > 0) {
    fail(`publint: ${messages.map((one) => formatMessage(one, pkg, { color: false })).join("\n")}`);
  }
}

/** Installs a release of Node in `folder`; undefined where there is none for this platform. */
function installNode(version: string, folder: string): string | undefined {
  if (process.version === `v${version}`) return dirname(process.execPath);
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) return undefined;
  const name = `node-linux-${process.arch}`;
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  run("npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`], { cwd: folder });
  return join(folder, "node_modules", name, "bin");
}

function installedPackages(folder: string): string[] {
  return readdirSync(join(folder, "node_modules"))
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(folder, "node_modules", name)).map((inner) => `${name}/${inner}`)
        : [name],
    )
    .toSorted();
}

/** What a user does: an empty folder, `npm install`, a program. */
function useOn(
  nodeBin: string,
  version: string,
  folder: string,
  tarball: string,
  manifest: z.output<typeof Manifest>,
): void {
  const options = { cwd: folder, pathFirst: nodeBin };
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const actual = run("node", ["--version"], options).trim();
  if (actual !== `v${version}`) fail(`expected Node ${version} and got ${actual}`);
  run("npm", ["install", "--no-audit", "--no-fund", tarball], options);

  const expected = [manifest.name, ...Object.keys(manifest.dependencies)].toSorted();
  const installed = installedPackages(folder);
  if (installed.join() !== expected.join())
    fail(`an install brings ${installed.join(", ")}, not ${expected.join(", ")}`);

  if (existsSync(join(folder, "node_modules", ".bin", "node"))) fail("an install brings a Node binary");

  copyFileSync(CONSUMER, join(folder, "main.ts"));
  const entries = Object.keys(manifest.exports).map((subpath) => join(manifest.name, subpath));
  process.stdout.write(
    run("node", ["main.ts", ...entries], options)
      .replaceAll(/^/gm, "    ")
      .trimEnd() + "\n",
  );
}

/** The command that comes along: its version, and a State that it serves, writes and reads. */
const COMMAND_SCRIPT = `
export HOMEOSTAT_ENDPOINT=unix:$PWD/socket
homeostat --version
homeostat serve --state memory --listen $HOMEOSTAT_ENDPOINT 2>serve.log &
until grep -q serving serve.log; do kill -0 $! && sleep 0.05; done
echo '{ metadata: { type: Guests.example.dev, id: ada }, spec: { room: 7 } }' | homeostat apply -f - >/dev/null
homeostat get Guests.example.dev ada -o 'jsonpath={.spec.room}'
kill $!
wait $!
homeostat run plane.config.ts 2>run.log &
until grep -q running run.log; do kill -0 $! && sleep 0.05; done
kill $!
wait $!
homeostat get svc 2>/dev/null || echo $?
`;
const CONTROL_PLANE = `
import { defineControlPlane, defineResource, shape } from "homeostat";
const Guest = defineResource({ type: "Guests.example.dev", spec: shape({ room: "number" }) });
export default defineControlPlane({ resources: [Guest], listen: "unix:plane" });
`;

function useCommand(nodeBin: string, folder: string, version: string): void {
  writeFileSync(join(folder, "plane.config.ts"), CONTROL_PLANE);
  const pathFirst = `${join(folder, "node_modules", ".bin")}${delimiter}${nodeBin}`;
  const output = run("sh", ["-e", "-c", COMMAND_SCRIPT], { cwd: folder, pathFirst });
  const expected = `${version}\n7\n5\n`;
  if (output !== expected) fail(`the command wrote ${JSON.stringify(output)}, not ${JSON.stringify(expected)}`);
}

/** The declarations have to be complete without our compiler options, and without `skipLibCheck`. */
function typeCheckIn(folder: string): void {
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom"],
    strict: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules", "@types")],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  run("tsc", ["-p", folder], { cwd: folder });
}

const temporary = mkdtempSync(join(tmpdir(), "homeostat-package-"));
try {
  await step("built", () => run("npm", ["run", "-s", "build"], { cwd: ROOT }));
  const stage = stagePackage();
  const manifest = readJson(Manifest, join(stage, "package.json"));
  const { filename, size, unpackedSize, files } = pack(stage, temporary);
  const tarball = join(temporary, filename);
  if (!existsSync(tarball)) fail(`npm pack left no ${filename}`);
  await step("contents: nothing that only development needs", () => {
    checkContents(
      files.map(({ path }) => path),
      manifest,
    );
  });
  console.log(
    `    ${filename}: ${(size / 1024).toFixed(0)} KiB packed, ${(unpackedSize / 1024).toFixed(0)} KiB unpacked, ${files.length} files`,
  );
  await step("publint", () => lintPackage(tarball));
  await step("are the types wrong (ES modules only)", () =>
    run("attw", ["--profile", "esm-only", tarball], { cwd: ROOT }),
  );

  for (const version of NODE_VERSIONS) {
    const nodeBin = installNode(version, join(temporary, `node-${version}`));
    if (nodeBin === undefined) {
      console.log(`- Node ${version}: no binary for ${process.platform} ${process.arch}, not checked`);
      continue;
    }
    const folder = join(temporary, `user-${version}`);
    await step(`installed and used on Node ${version}`, () => useOn(nodeBin, version, folder, tarball, manifest));
    await step("type-checked against the declarations", () => typeCheckIn(folder));
    await step("the command works", () => useCommand(nodeBin, folder, manifest.version));
  }
} catch (error) {
  console.error(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
