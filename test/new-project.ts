import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * An empty folder in which the package is installed and TypeScript knows Node, as a reader's would be.
 *
 * @param onEnd - Takes what removes it. Default: it goes with the running test.
 */
export async function newProject(onEnd: (remove: () => Promise<void>) => void = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "homeostat-project-"));
  onEnd(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "node_modules", "@types"), { recursive: true });
  await symlink(ROOT, join(folder, "node_modules", "homeostat"));
  for (const name of ["@types/node", "undici-types"]) {
    await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return folder;
}

/** Compiles the files of the folder with the options of this repository. @throws {Error} with what the compiler says. */
export async function typecheck(folder: string, more: object = {}): Promise<void> {
  const text = await readFile(join(ROOT, "tsconfig.json"), "utf8");
  const { compilerOptions } = JSON.parse(text) as { compilerOptions: object };
  const options = { ...compilerOptions, ...more };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  await run(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", folder], { cwd: folder }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  });
}
