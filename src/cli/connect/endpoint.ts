import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, usageError } from "../cli-error.ts";
import { parseDuration } from "../args/duration.ts";
import { ExitCode } from "../exit-code.ts";
import type { Endpoint, EndpointTls, Host } from "../host.ts";
import { contextNamed, readContexts } from "./contexts.ts";

/** The flags of every command that talks to a State. */
export interface EndpointFlags {
  readonly endpoint?: string | undefined;
  /** Name of an endpoint. */
  readonly context?: string | undefined;
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

/** @throws {CliError} usage; not found, for a context that there is not. */
export async function resolveEndpoints(flags: EndpointFlags, host: EndpointHost): Promise<readonly Endpoint[]> {
  const { context, ...chosen } = await withContext(flags, host);
  const { endpoint, node = [] } = chosen;
  const common = {
    address: endpoint === undefined ? await usualEndpoint(host) : absoluteAddress(endpoint, host),
    isDefault: endpoint === undefined,
    context,
    timeoutMs: parseDuration(flags.timeout ?? "30s"),
    tls: await readTls(chosen, host),
    token: await readToken(chosen, host),
  };
  const nodes = [...new Set(node.flatMap((list) => list.split(",")))];
  if (nodes.includes("")) throw usageError("--node is empty");
  return nodes.length === 0 ? [{ ...common, node: undefined }] : nodes.map((one) => ({ ...common, node: one }));
}

/**
 * The flags, completed by the context that they, or else the environment or the file of contexts, choose. An address
 * that is named goes before: what a context says is meant for its own endpoint.
 */
async function withContext(flags: EndpointFlags, host: EndpointHost): Promise<EndpointFlags> {
  if (flags.endpoint !== undefined) {
    if (flags.context !== undefined) throw usageError("--context and --endpoint exclude each other");
    return flags;
  }
  const named = host.env["HOMEOSTAT_ENDPOINT"];
  if (flags.context === undefined && named) return { ...flags, endpoint: named };
  const all = await readContexts(host);
  const context = flags.context ?? (host.env["HOMEOSTAT_CONTEXT"] || all.current);
  if (context === undefined) return flags;
  const { cert, key, tokenFile, ...rest } = contextNamed(all, context);
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return {
    ...rest,
    ...(flags.cert === undefined && flags.key === undefined && { cert, key }),
    ...(flags.token === undefined && { tokenFile }),
    ...Object.fromEntries(given),
    context,
  };
}

/** The address at which `run` serves and at which the other commands look, unless they are told otherwise. */
export async function usualEndpoint({ env, userId, temporaryFolder }: EndpointHost, create = false): Promise<string> {
  const { defaultEndpoint } = await import("../../grpc/index.ts");
  try {
    return await defaultEndpoint({ env, userId, temporaryFolder, create });
  } catch (cause) {
    throw new CliError(ExitCode.failed, cause instanceof Error ? cause.message : String(cause), { cause });
  }
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
  const where = endpoint.context === undefined ? endpoint.address : `${endpoint.address} (context ${endpoint.context})`;
  return new CliError(ExitCode.unavailable, `no answer from ${where}: ${reason}${hint}`, { cause: error });
}
