import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, usageError } from "../cli-error.ts";
import { parseDuration } from "../args/duration.ts";
import { ExitCode } from "../exit-code.ts";
import type { Endpoint, EndpointTls, Host } from "../host.ts";

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

/** @throws {CliError} usage */
export async function resolveEndpoints(flags: EndpointFlags, host: EndpointHost): Promise<readonly Endpoint[]> {
  const named = flags.endpoint ?? (host.env["HOMEOSTAT_ENDPOINT"] || undefined);
  const common = {
    address: named === undefined ? await usualEndpoint(host) : absoluteAddress(named, host),
    isDefault: named === undefined,
    timeoutMs: parseDuration(flags.timeout ?? "30s"),
    tls: await readTls(flags, host),
    token: await readToken(flags, host),
  };
  const nodes = [...new Set((flags.node ?? []).flatMap((list) => list.split(",")))];
  if (nodes.includes("")) throw usageError("--node is empty");
  return nodes.length === 0 ? [{ ...common, node: undefined }] : nodes.map((node) => ({ ...common, node }));
}

/** The address at which `run` serves and at which the other commands look, unless they are told otherwise. */
export async function usualEndpoint({ env, userId, temporaryFolder }: EndpointHost, create = false): Promise<string> {
  const { defaultEndpoint } = await import("../../grpc/index.ts");
  return defaultEndpoint({ env, userId, temporaryFolder, create });
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
