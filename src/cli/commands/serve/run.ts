import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ControlPlane } from "../../../plane/index.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { parseDuration } from "../../args/duration.ts";
import { absoluteAddress } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { userFailure } from "../../user-failure.ts";
import { isCancellation } from "../../../internal/cancellation.ts";
import { stderrLogger } from "../../connect/stderr-logger.ts";

export interface RunCommandOptions {
  /** Path of the configuration. */
  readonly config: string;
  /** Addresses in place of the configuration's own. */
  readonly listen?: readonly string[] | undefined;
  /** Gives the address to serve at when neither names one. */
  readonly defaultListen: () => Promise<string>;
  readonly logLevel: string;
  /** Default: 15 s. */
  readonly stopTimeout?: string | undefined;
}

/** Runs the control plane of a configuration until it is told to stop; a part that fails stops the others. */
export async function run(context: CommandContext, options: RunCommandOptions): Promise<ExitCode> {
  const { signal, stderr } = context;
  const logger = stderrLogger(context, options.logLevel);
  const stopTimeoutMs = parseDuration(options.stopTimeout ?? "15s");
  const listen = options.listen?.map((address) => absoluteAddress(address, context));
  const plane = await loadControlPlane(options.config, context);
  const running = plane.run({
    signal,
    logger,
    listen: listen ??
      plane.listen?.map((address) => absoluteAddress(address, context)) ?? [await options.defaultListen()],
    stopTimeoutMs,
    onReady: (addresses) =>
      stderr.write(`homeostat: running${addresses.map((one) => `, serving at ${one}`).join("")}\n`),
  });
  await running.catch((error: unknown) => {
    throw signal.aborted && isCancellation(error, signal) ? error : userFailure("", error, context.cwd);
  });
  return ExitCode.ok;
}

/** @throws {CliError} usage, when there is no such file or it exports no control plane; failed, when it throws. */
async function loadControlPlane(name: string, { cwd }: CommandContext): Promise<ControlPlane> {
  const path = resolve(cwd, name);
  const found = await stat(path).catch((cause: Error) => {
    throw usageError(`the configuration ${name} cannot be read: ${cause.message}`, { cause });
  });
  if (found.isDirectory()) throw usageError(`the configuration ${name} is a folder; name the file in it`);
  let loaded: unknown;
  try {
    // The user's own file, with whatever it imports; nothing of it is known before.
    loaded = await import(pathToFileURL(path).href);
  } catch (thrown) {
    throw userFailure(`the configuration ${name} cannot be loaded`, thrown, cwd);
  }
  const exported = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
  if (isControlPlane(exported)) return exported;
  throw usageError(`${name} exports no control plane; it should say: export default defineControlPlane({ … })`);
}

/** By its shape: the configuration may use another copy of the package than this one. */
function isControlPlane(value: unknown): value is ControlPlane {
  return (
    typeof value === "object" &&
    value !== null &&
    "run" in value &&
    typeof value.run === "function" &&
    "resources" in value &&
    "controllers" in value
  );
}
