import type { ServerVersion } from "../../grpc/index.ts";
import type { State } from "../../state/index.ts";
import { CliError, usageError } from "../cli-error.ts";
import { wantsColor } from "../color.ts";
import type { CommandContext, ReadContext, WriteContext } from "../command-context.ts";
import { resolveEndpoints, unreachable, usualEndpoint, type EndpointFlags } from "./endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import type { Endpoint, Host } from "../host.ts";

/** The flags of every command. */
export interface CommonFlags {
  readonly color?: string | undefined;
}

/** Gives commands what they need, and takes it back when they are done. */
export class Session {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** For a command that needs no State. */
  plain(flags: CommonFlags): CommandContext {
    const { stdout, stderr, readStdin, holdInterrupts, isInteractive, env, cwd, clock, signal } = this.#host;
    const color = wantsColor(flags.color, this.#host);
    return { stdout, stderr, readStdin, holdInterrupts, isInteractive, env, cwd, clock, signal, color };
  }

  /** For a command that reads, from each node that the flags name. */
  async read(
    flags: CommonFlags & EndpointFlags,
    command: (context: ReadContext) => Promise<ExitCode>,
  ): Promise<ExitCode> {
    const context = this.plain(flags);
    const endpoints = await resolveEndpoints(flags, this.#host);
    return this.#withStates(endpoints, (states) => {
      const targets = endpoints.flatMap(({ node }, i) => {
        const state = states[i];
        return state === undefined ? [] : [{ node, state }];
      });
      return command({ ...context, targets });
    });
  }

  /** For a command that writes. @throws {CliError} usage, when the flags name several nodes. */
  async write(
    flags: CommonFlags & EndpointFlags,
    command: (context: WriteContext) => Promise<ExitCode>,
  ): Promise<ExitCode> {
    const context = this.plain(flags);
    const endpoints = await resolveEndpoints(flags, this.#host);
    if (endpoints.length > 1) throw usageError("this command goes to one --node");
    return this.#withStates(endpoints, async ([state]) => {
      if (state === undefined) throw usageError("there is no endpoint");
      return command({ ...context, state });
    });
  }

  /** What the servers are that the flags name, one for each node. @throws {CliError} unavailable */
  async serverVersions(
    flags: EndpointFlags,
  ): Promise<readonly { readonly endpoint: Endpoint; readonly version: ServerVersion | undefined }[]> {
    const versions: { endpoint: Endpoint; version: ServerVersion | undefined }[] = [];
    for (const endpoint of await resolveEndpoints(flags, this.#host)) {
      try {
        versions.push({ endpoint, version: await this.#host.askVersion(endpoint) });
      } catch (error) {
        const { exitCodeOf } = await import("../failure.ts");
        throw exitCodeOf(error) === ExitCode.unavailable ? unreachable(endpoint, error) : error;
      }
    }
    return versions;
  }

  /** The address at which the other commands look when none is named; its folder exists. */
  makeDefaultListen(): Promise<string> {
    return usualEndpoint(this.#host, true);
  }

  async #withStates(
    endpoints: readonly Endpoint[],
    work: (states: readonly State[]) => Promise<ExitCode>,
  ): Promise<ExitCode> {
    const states: State[] = [];
    try {
      for (const endpoint of endpoints) states.push(await this.#open(endpoint));
      return await work(states);
    } catch (error) {
      const { exitCodeOf } = await import("../failure.ts");
      const [endpoint] = endpoints;
      const isUnreachable = exitCodeOf(error) === ExitCode.unavailable && !(error instanceof CliError);
      throw isUnreachable && endpoint !== undefined ? unreachable(endpoint, error) : error;
    } finally {
      await Promise.all(states.map((state) => state[Symbol.asyncDispose]()));
    }
  }

  /** Options that make no sense are thrown as programming mistakes; here they come from the command line. */
  async #open(endpoint: Endpoint): Promise<State> {
    try {
      return await this.#host.openState(endpoint);
    } catch (cause) {
      if (cause instanceof TypeError || cause instanceof RangeError) throw usageError(cause.message, { cause });
      throw cause;
    }
  }
}
