import { once } from "node:events";
import { MemoryState } from "../../../memory/index.ts";
import type { State } from "../../../state/index.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { absoluteAddress } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { stderrLogger, type LogOptions } from "../../connect/stderr-logger.ts";
import { listenFailure, readServingOptions, type ServingOptions } from "./serving-options.ts";

export interface ServeOptions extends ServingOptions, LogOptions {
  /** Name of the State, as a URL without what it does not need: `memory`. */
  readonly state: string;
  /** `unix:PATH` or `tcp:HOST:PORT`. */
  readonly listen: readonly string[];
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
  const logger = stderrLogger(context, options);
  const addresses = options.listen.map((address) => absoluteAddress(address, context));
  const access = await readServingOptions(options, context);
  const state = openNamedState(options.state);
  try {
    const { ListenError, server } = await import("../../../grpc/index.ts");
    const serving = server(state, { ...access, logger });
    try {
      for (const wanted of addresses) {
        const { address } = await serving.listen(wanted).catch((cause: unknown) => {
          throw cause instanceof ListenError ? listenFailure(cause, wanted) : cause;
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

/** @throws {CliError} usage */
function openNamedState(name: string): State {
  const [, scheme = "", location = ""] = /^([a-z][a-z0-9+-]*)(?::(?:\/\/)?(.*))?$/.exec(name) ?? [];
  const open = STATES.get(scheme);
  if (open !== undefined) return open(location);
  throw usageError(`there is no state called ${JSON.stringify(name)}; there is ${[...STATES.keys()].join(", ")}`);
}
