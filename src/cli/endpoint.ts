import { lstat, mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, usageError } from "./cli-error.ts";
import { parseDuration } from "./duration.ts";
import { ExitCode } from "./exit-code.ts";
import type { Endpoint, EndpointTls, Host } from "./host.ts";

/** The flags of every command that talks to a State. */
export interface EndpointFlags {
  readonly endpoint?: string | undefined;
  readonly node?: readonly string[] | undefined;
  readonly timeout?: string | undefined;
  readonly tls?: boolean | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

type EndpointHost = Pick<Host, "env" | "cwd" | "userId" | "temporaryFolder">;

/** The socket on which `run` serves and which the other commands ask, unless told otherwise. */
function defaultSocket({ env, userId, temporaryFolder }: Omit<EndpointHost, "cwd">): string {
  const runtimeFolder = env["XDG_RUNTIME_DIR"];
  return runtimeFolder
    ? join(runtimeFolder, "homeostat", "homeostat.sock")
    : join(temporaryFolder, `homeostat-${userId}`, "homeostat.sock");
}

/** Makes the folder of the default socket, for the user alone. @throws {Error} when it is somebody else's. */
export async function makeSocketFolder(host: EndpointHost): Promise<string> {
  const socket = defaultSocket(host);
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
  await checkSocketFolder(socket, host);
  return socket;
}

/** A folder that others may write to is a trap: whoever put it there would see everything. */
async function checkSocketFolder(socket: string, { userId }: EndpointHost): Promise<void> {
  const folder = await lstat(dirname(socket)).catch(() => undefined); // There is none: then nobody answers there.
  if (folder === undefined) return;
  if (!folder.isDirectory() || folder.uid !== userId || (folder.mode & 0o022) !== 0) {
    throw new Error(
      `${dirname(socket)} is not a folder that only you can write to; name another place with --endpoint`,
    );
  }
}

/** @throws {CliError} usage */
export async function resolveEndpoints(flags: EndpointFlags, host: EndpointHost): Promise<readonly Endpoint[]> {
  const named = flags.endpoint ?? (host.env["HOMEOSTAT_ENDPOINT"] || undefined);
  const socket = defaultSocket(host);
  if (named === undefined) await checkSocketFolder(socket, host);
  const common = {
    address: named === undefined ? `unix:${socket}` : absoluteAddress(named, host),
    isDefault: named === undefined,
    timeoutMs: parseDuration(flags.timeout ?? "30s"),
    tls: await readTls(flags, host),
    token: await readToken(flags, host),
  };
  const nodes = [...new Set((flags.node ?? []).flatMap((list) => list.split(",")))];
  if (nodes.includes("")) throw usageError("--node is empty");
  return nodes.length === 0 ? [{ ...common, node: undefined }] : nodes.map((node) => ({ ...common, node }));
}

/** Paths of sockets are relative to where the user is. @throws {CliError} usage */
export function absoluteAddress(address: string, { cwd }: Pick<Host, "cwd">): string {
  const path = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1];
  if (path !== undefined) return `unix:${resolve(cwd, path)}`;
  if (/^tcp:(?:\/\/)?./.test(address)) return address;
  throw usageError(`an address is unix:PATH or tcp:HOST:PORT, got ${JSON.stringify(address)}`);
}

async function readTls(flags: EndpointFlags, host: EndpointHost): Promise<EndpointTls | undefined> {
  const { tls = false, ca, cert, key, serverName } = flags;
  if ((cert === undefined) !== (key === undefined)) throw usageError("--cert and --key belong together");
  if (!tls && ca === undefined && cert === undefined && serverName === undefined) return undefined;
  const read = (name: string | undefined): Promise<Buffer | undefined> => readSecret(name, host);
  const [caBytes, certBytes, keyBytes] = await Promise.all([read(ca), read(cert), read(key)]);
  return {
    ...(caBytes && { ca: caBytes }),
    ...(certBytes && { cert: certBytes }),
    ...(keyBytes && { key: keyBytes }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

async function readToken(flags: EndpointFlags, host: EndpointHost): Promise<string | undefined> {
  const { token, tokenFile } = flags;
  if (token !== undefined && tokenFile !== undefined) throw usageError("--token and --token-file exclude each other");
  if (tokenFile !== undefined) return (await readSecret(tokenFile, host))?.toString("utf8").trim();
  return token ?? (host.env["HOMEOSTAT_TOKEN"] || undefined);
}

/** A file that the command line names. @throws {CliError} usage */
export async function readSecret(name: string | undefined, { cwd }: Pick<Host, "cwd">): Promise<Buffer | undefined> {
  if (name === undefined) return undefined;
  try {
    return await readFile(resolve(cwd, name));
  } catch (cause) {
    throw usageError(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** An endpoint that does not answer, with what the user can do about it. */
export function unreachable(endpoint: Endpoint, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = endpoint.isDefault ? "; homeostat run starts a control plane there, --endpoint names another one" : "";
  return new CliError(ExitCode.unavailable, `nobody answers at ${endpoint.address}: ${reason}${hint}`, {
    cause: error,
  });
}
