import type { StateServerOptions } from "../../../grpc/index.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { readSecret } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";

/** Who gets in where a State is served. */
export interface ServingOptions {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Authorities of clients; without a certificate of theirs no client gets in. */
  readonly clientCa?: string | undefined;
  /** File of bearer tokens, one a line. */
  readonly tokenFile?: string | undefined;
  /** Listen without TLS where other machines can connect. Default: false. */
  readonly allowInsecure?: boolean | undefined;
  /** Tell tools which services there are, and what their messages look like. Default: false. */
  readonly reflection?: boolean | undefined;
}

/** What the files say that the options name. @throws {CliError} usage */
export async function readServingOptions(
  options: ServingOptions,
  context: CommandContext,
): Promise<Pick<StateServerOptions, "tls" | "tokens" | "allowInsecurePublic" | "reflection">> {
  const tls = await readServerTls(options, context);
  const tokens = await readTokens(options, context);
  return { tls, tokens, allowInsecurePublic: options.allowInsecure, reflection: options.reflection };
}

/** What to say of an address that cannot be served. */
export function listenFailure(cause: Error & { readonly reason?: string }, address: string): Error {
  if (cause.reason !== "public") return cause;
  const text =
    `refusing to listen on ${address} without TLS, as other machines reach it: give --cert and --key, ` +
    "or --allow-insecure where the network itself is trusted";
  return new CliError(ExitCode.failed, text, { cause });
}

async function readServerTls(
  { cert, key, clientCa }: ServingOptions,
  context: CommandContext,
): Promise<{ cert: Buffer; key: Buffer; ca?: Buffer } | undefined> {
  if ((cert === undefined) !== (key === undefined)) throw usageError("--cert and --key belong together");
  if (clientCa !== undefined && cert === undefined) throw usageError("--client-ca needs --cert and --key");
  const [certBytes, keyBytes, ca] = await Promise.all([cert, key, clientCa].map((name) => readSecret(name, context)));
  if (certBytes === undefined || keyBytes === undefined) return undefined;
  return { cert: certBytes, key: keyBytes, ...(ca && { ca }) };
}

async function readTokens(
  { tokenFile }: ServingOptions,
  context: CommandContext,
): Promise<readonly string[] | undefined> {
  const text = (await readSecret(tokenFile, context))?.toString("utf8");
  if (text === undefined) return undefined;
  const tokens = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (tokens.length === 0) throw usageError("the token file holds no token, so no client could get in");
  return tokens;
}
