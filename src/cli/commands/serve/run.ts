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
import type { Observed } from "../../../http/index.ts";
import type { Logger } from "../../../log/index.ts";
import { messageOf } from "../../../internal/foreign-value.ts";
import { openNamedState } from "./named-state.ts";
import { listenFailure, readServingOptions, type ServingOptions } from "./serving-options.ts";
import { isCancellation } from "../../../internal/cancellation.ts";
import { stderrLogger, type LogOptions } from "../../connect/stderr-logger.ts";

export interface RunCommandOptions extends ServingOptions, LogOptions {
  /** Path of the configuration. */
  readonly config: string;
  /** Addresses in place of the configuration's own. */
  readonly listen?: readonly string[] | undefined;
  /** Gives the address to serve at when neither names one. */
  readonly defaultListen: () => Promise<string>;
  /** Name of the State, in place of the configuration's own: `memory`, `sqlite:data.db`. */
  readonly state?: string | undefined;
  /** Where metrics and health are shown: `HOST:PORT` or `PORT`. Default: nowhere. */
  readonly http?: string | undefined;
  /** Default: 15 s. */
  readonly stopTimeout?: string | undefined;
}

/** Runs the control plane of a configuration until it is told to stop; a part that fails stops the others. */
export async function run(context: CommandContext, options: RunCommandOptions): Promise<ExitCode> {
  const { signal, stderr } = context;
  const logger = stderrLogger(context, options);
  const stopTimeoutMs = parseDuration(options.stopTimeout ?? "15s");
  const listen = options.listen?.map((address) => absoluteAddress(address, context));
  const access = await readServingOptions(options, context);
  const plane = await loadControlPlane(options.config, context);
  const stateName = options.state;
  const running = plane.run({
    signal,
    logger,
    server: access,
    state: stateName === undefined ? undefined : () => openNamedState(stateName, plane.resources, context),
    onRuntime: ({ runtime, defer }) => showOverHttp(options.http, runtime, context, logger, defer),
    listen: listen ??
      plane.listen?.map((address) => absoluteAddress(address, context)) ?? [await options.defaultListen()],
    stopTimeoutMs,
    onReady: (addresses) =>
      stderr.write(`homeostat: running${addresses.map((one) => `, serving at ${one}`).join("")}\n`),
  });
  await running.catch(async (error: unknown) => {
    if (signal.aborted && isCancellation(error, signal)) throw error;
    const { ListenError } = await import("../../../grpc/index.ts");
    if (error instanceof ListenError) throw listenFailure(error, listen?.join(", ") ?? "its address");
    throw userFailure("", error, context.cwd);
  });
  return ExitCode.ok;
}

/** Shows metrics and health, until the control plane has stopped. */
async function showOverHttp(
  address: string | undefined,
  runtime: Observed,
  { stderr }: CommandContext,
  logger: Logger,
  defer: (cleanup: () => PromiseLike<void>) => void,
): Promise<void> {
  if (address === undefined) return;
  const { observe } = await import("../../../http/index.ts");
  const showing = await observe(runtime, { address, logger }).catch((cause: unknown) => {
    throw usageError(`--http ${address}: ${messageOf(cause)}`, { cause });
  });
  defer(() => showing[Symbol.asyncDispose]());
  await stderr.write(`homeostat: metrics at ${showing.url}/metrics\n`);
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
