import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatSpecPath, shape } from "../../resource/index.ts";
import { CliError, notFoundError, usageError } from "../cli-error.ts";
import { closestOf } from "../args/closest-name.ts";
import { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";

/** An endpoint by a name of the user's. Paths of files are absolute; tokens themselves are not kept. */
export interface NamedContext {
  readonly endpoint: string;
  readonly node?: readonly string[] | undefined;
  readonly tls?: boolean | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** What the file of contexts holds. */
export interface Contexts {
  /** Name of the context that counts when none is asked for. */
  readonly current?: string | undefined;
  readonly contexts: Readonly<Record<string, NamedContext>>;
}

type ContextHost = Pick<Host, "env">;

const contextShape = shape({
  endpoint: "string",
  "node?": ["string"],
  "tls?": "boolean",
  "ca?": "string",
  "cert?": "string",
  "key?": "string",
  "serverName?": "string",
  "tokenFile?": "string",
});

/** Where contexts are kept: in the user's folder for configuration. Undefined where there is no such folder. */
function contextsFile({ env }: ContextHost): string | undefined {
  const folder = env["XDG_CONFIG_HOME"] || (env["HOME"] && join(env["HOME"], ".config")) || env["APPDATA"];
  return folder ? join(folder, "homeostat", "contexts.json") : undefined;
}

/** The contexts of the user; none where there is no file. @throws {CliError} failed, for a file that cannot be used. */
export async function readContexts(host: ContextHost): Promise<Contexts> {
  const file = contextsFile(host);
  if (file === undefined) return { contexts: {} };
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR"))
      return { contexts: {} };
    throw unusable(file, cause);
  }
  try {
    return parseContexts(JSON.parse(text));
  } catch (cause) {
    throw unusable(file, cause);
  }
}

const unusable = (file: string, cause: unknown): CliError => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CliError(ExitCode.failed, `the contexts in ${file} cannot be read: ${reason}`, { cause });
};

/** @throws {TypeError} that names the field. */
function parseContexts(value: unknown): Contexts {
  const { current, contexts = {}, ...others } = asRecord("the file", value);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`${unknown} is not a known field; known: current, contexts`);
  if (current !== undefined && typeof current !== "string") throw new TypeError("current must be a string");
  const checked = Object.entries(asRecord("contexts", contexts)).map(([name, context]) => {
    const result = contextShape["~standard"].validate(context);
    if ("then" in result) throw new TypeError("a shape answers at once");
    const [issue] = result.issues ?? [];
    if (issue !== undefined || result.issues !== undefined) {
      throw new TypeError(`${formatSpecPath((issue?.path ?? []).map(String), `contexts.${name}`)}: ${issue?.message}`);
    }
    return [name, result.value] as const;
  });
  return { current, contexts: Object.fromEntries(checked) };
}

function asRecord(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new TypeError(`${what} must be an object`);
}

/** Writes the file in one go, for its owner alone. @throws {CliError} failed */
export async function writeContexts(host: ContextHost, contexts: Contexts): Promise<void> {
  const file = contextsFile(host);
  if (file === undefined) throw usageError("there is no place for contexts: XDG_CONFIG_HOME and HOME are not set");
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(ExitCode.failed, `the contexts cannot be written to ${file}: ${reason}`, { cause });
  }
}

/** @throws {CliError} not found, with the closest name. */
export function contextNamed({ contexts }: Contexts, name: string): NamedContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(contexts).toSorted();
  const closest = closestOf(name, names);
  const hint =
    closest !== undefined
      ? `did you mean ${closest}?`
      : names.length > 0
        ? `there are ${names.join(", ")}`
        : "homeostat context add makes one";
  throw notFoundError(`there is no context called ${JSON.stringify(name)}; ${hint}`);
}
