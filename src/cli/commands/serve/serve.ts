import { once } from "node:events";
import type { CommandContext } from "../../command-context.ts";
import { absoluteAddress } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { stderrLogger, type LogOptions } from "../../connect/stderr-logger.ts";
import { openNamedState } from "./named-state.ts";
import { listenFailure, readServingOptions, type ServingOptions } from "./serving-options.ts";

export interface ServeOptions extends ServingOptions, LogOptions {
  /** Name of the State, as a URL without what it does not need: `memory`, `sqlite:data.db`. */
  readonly state: string;
  /** `unix:PATH` or `tcp:HOST:PORT`. */
  readonly listen: readonly string[];
}

/** Calls that are open at the end may take this long. */
const GRACE_MS = 2_000;

/** Serves a State until it is told to stop. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<ExitCode> {
  const { stderr, signal } = context;
  const logger = stderrLogger(context, options);
  const addresses = options.listen.map((address) => absoluteAddress(address, context));
  const access = await readServingOptions(options, context);
  const state = await openNamedState(options.state, [], context);
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
