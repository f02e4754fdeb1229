import { once } from "node:events";
import { MemoryState } from "../../../memory/index.ts";
import type { State } from "../../../state/index.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { absoluteAddress, readSecret } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { stderrLogger } from "../../connect/stderr-logger.ts";

export interface ServeOptions {
  /** Name of the State, as a URL without what it does not need: `memory`. */
  readonly state: string;
  /** `unix:PATH` or `tcp:HOST:PORT`. */
  readonly listen: readonly string[];
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Authorities of clients; without a certificate of theirs no client gets in. */
  readonly clientCa?: string | undefined;
  /** File of bearer tokens, one a line. */
  readonly tokenFile?: string | undefined;
  /** Listen without TLS where other machines can connect. Default: false. */
  readonly allowInsecure?: boolean | undefined;
  readonly logLevel: string;
}

/** Events kept of each kind: watchers across a wire, and those that come back after a break, need a longer memory. */
const HISTORY_EVENTS = 10_000;

/** What `--state` can name. */
const STATES: ReadonlyMap<string, (location: string) => State> = new Map([
  [
    "memory",
    (location: string) => {
      if (location !== "") throw usageError(`the state memory takes nothing after its name, got ${location}`);
      return new MemoryState({ history: { maxCapacity: HISTORY_EVENTS } });
    },
  ],
]);

/** Calls that are open at the end may take this long. */
const GRACE_MS = 2_000;

/** Serves a State until it is told to stop. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<ExitCode> {
  const { stderr, signal } = context;
  const logger = stderrLogger(context, options.logLevel);
  const addresses = options.listen.map((address) => absoluteAddress(address, context));
  const tls = await readServerTls(options, context);
  const tokens = await readTokens(options, context);
  const state = openNamedState(options.state);
  try {
    const { ListenError, server } = await import("../../../grpc/index.ts");
    const serving = server(state, { tls, tokens, allowInsecurePublic: options.allowInsecure, logger });
    try {
      for (const wanted of addresses) {
        const { address } = await serving.listen(wanted).catch((cause: unknown) => {
          if (!(cause instanceof ListenError) || cause.reason !== "public") throw cause;
          throw new CliError(ExitCode.failed, refusedPublic(wanted), { cause });
        });
        await stderr.write(`homeostat: serving ${options.state} at ${address}\n`);
      }
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      await serving.close({ graceMs: GRACE_MS });
    }
  } finally {
    await state[Symbol.asyncDispose]();
  }
  return ExitCode.ok;
}

const refusedPublic = (address: string): string =>
  `refusing to listen on ${address} without TLS, as other machines reach it: give --cert and --key, ` +
  "or --allow-insecure where the network itself is trusted";

/** @throws {CliError} usage */
function openNamedState(name: string): State {
  const [, scheme = "", location = ""] = /^([a-z][a-z0-9+-]*)(?::(?:\/\/)?(.*))?$/.exec(name) ?? [];
  const open = STATES.get(scheme);
  if (open !== undefined) return open(location);
  throw usageError(`there is no state called ${JSON.stringify(name)}; there is ${[...STATES.keys()].join(", ")}`);
}

async function readServerTls(
  { cert, key, clientCa }: ServeOptions,
  context: CommandContext,
): Promise<{ cert: Buffer; key: Buffer; ca?: Buffer } | undefined> {
  if ((cert === undefined) !== (key === undefined)) throw usageError("--cert and --key belong together");
  if (clientCa !== undefined && cert === undefined) throw usageError("--client-ca needs --cert and --key");
  const [certBytes, keyBytes, ca] = await Promise.all([cert, key, clientCa].map((name) => readSecret(name, context)));
  if (certBytes === undefined || keyBytes === undefined) return undefined;
  return { cert: certBytes, key: keyBytes, ...(ca && { ca }) };
}

async function readTokens(
  { tokenFile }: ServeOptions,
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
