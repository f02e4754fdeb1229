import type { Clock } from "../clock/index.ts";
import type { ServerVersion } from "../grpc/index.ts";
import type { State } from "../state/index.ts";
import type { Output } from "./output.ts";

/** Where a State is and how to talk to it; one for each node. */
export interface Endpoint {
  readonly address: string;
  /** True when no address was named. */
  readonly isDefault: boolean;
  /** Name of the context that the address comes from. */
  readonly context: string | undefined;
  readonly node: string | undefined;
  /** Undefined for no limit. */
  readonly timeoutMs: number | undefined;
  readonly tls: EndpointTls | undefined;
  readonly token: string | undefined;
}

export interface EndpointTls {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly servername?: string | undefined;
}

/** The process around the command line; tests make their own. */
export interface Host {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly readStdin: () => Promise<string>;
  /** Until it is disposed, Ctrl-C is for another program, such as an editor, and not for this one. */
  readonly holdInterrupts: () => Disposable;
  /** True when a person can be asked. */
  readonly isInteractive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly userId: number;
  readonly temporaryFolder: string;
  /** What ages are measured by, and what ends waiting. */
  readonly clock: Clock;
  /** Aborts when the process should end; the reason may carry the exit code: {@link Interrupted}. */
  readonly signal: AbortSignal;
  /** Opens the State at an endpoint; the caller disposes it. */
  readonly openState: (endpoint: Endpoint) => Promise<State>;
  /** What the server at an endpoint is; undefined when it does not say. */
  readonly askVersion: (endpoint: Endpoint) => Promise<ServerVersion | undefined>;
}

/** The process was asked to end. */
export class Interrupted extends Error {
  override readonly name: string = "AbortError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
