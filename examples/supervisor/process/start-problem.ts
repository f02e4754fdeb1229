import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { resolve } from "node:path";

/**
 * Why a command cannot be started, naming the one thing that is wrong; undefined when nothing is.
 *
 * @param path - Folders in which programs are looked for, as in the variable PATH.
 */
export async function findStartProblem(
  command: readonly string[],
  cwd: string,
  path: string | undefined,
): Promise<string | undefined> {
  const [program = ""] = command;
  const problem = (await folderProblem(cwd)) ?? (await programProblem(program, cwd, path ?? "/usr/bin:/bin"));
  return problem && `cannot start ${JSON.stringify(program)}: ${problem}`;
}

async function folderProblem(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : `${cwd} is not a folder`;
  } catch (error) {
    return isMissing(error) ? `there is no folder ${cwd}` : (error as Error).message;
  }
}

async function programProblem(program: string, cwd: string, path: string): Promise<string | undefined> {
  const found = await findProgram(program, cwd, path);
  if (found.problem !== undefined) {
    const words = program.trim().split(/\s+/);
    const hint = words.length > 1 ? `; each argument is an item of its own: [${words.join(", ")}]` : "";
    return `${found.problem}${hint}`;
  }
  const [interpreter, argument] = await interpreterOf(found.file);
  if (interpreter === undefined) return undefined;
  const missing = async (name: string) => (await findProgram(name, cwd, path)).problem !== undefined;
  if (await missing(interpreter)) return `its interpreter ${interpreter} cannot be run`;
  const viaEnv = interpreter.endsWith("/env") && argument !== undefined && /^[^-=]+$/.test(argument);
  return viaEnv && (await missing(argument)) ? `its interpreter ${argument} is not on the PATH` : undefined;
}

type Found = { readonly file: string; readonly problem?: undefined } | { readonly problem: string };

async function findProgram(program: string, cwd: string, path: string): Promise<Found> {
  const folders = program.includes("/") ? [""] : path.split(":");
  let problem = program.includes("/") ? "there is no such file" : "there is no such program on the PATH";
  for (const folder of folders) {
    const file = resolve(cwd, folder, program);
    try {
      if (!(await stat(file)).isFile()) problem = `${file} is not a file`;
      else {
        await access(file, constants.X_OK);
        return { file };
      }
    } catch (error) {
      if (!isMissing(error)) problem = `${file} is not executable`;
    }
  }
  return { problem };
}

/** The words after `#!` on the first line; none when it has no such line, or cannot be read. */
async function interpreterOf(file: string): Promise<readonly string[]> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const [line = ""] = buffer.toString("latin1", 0, bytesRead).split("\n", 1);
    return line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  } catch {
    return []; // It may be allowed to run what it may not read.
  }
}

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
