import type { StateServerOptions } from "../grpc/index.ts";
import type { Controller, QueueController } from "../controller/index.ts";
import type { Logger } from "../log/index.ts";
import type { AnyResourceType } from "../resource/index.ts";
import type { Runtime, RuntimeOptions } from "../runtime/index.ts";
import type { State } from "../state/index.ts";

/** What the hooks and tasks of a control plane are given. */
export interface PlaneContext {
  readonly state: State;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** What {@link ControlPlaneInit.onStart} is given. Its signal aborts when the control plane is asked to stop. */
export interface StartContext extends PlaneContext {
  /**
   * Runs `cleanup` when controllers and tasks have stopped, or the start has failed: last given, first run. What it
   * throws fails the stop, after the other cleanups.
   */
  defer(this: void, cleanup: () => void | PromiseLike<void>): void;
}

/** An activity beside the controllers, such as a screen, a poller or a server. */
export interface PlaneTask {
  /** For messages. */
  readonly name: string;
  /**
   * Starts with the controllers. It may return at any time; its signal aborts when the controllers stop, which is after
   * {@link ControlPlaneInit.onStop}. What it throws before ends the control plane.
   */
  run(context: PlaneContext): Promise<void>;
}

/** What {@link defineControlPlane} takes. */
export interface ControlPlaneInit {
  /**
   * Opens the State, which is disposed when the control plane has stopped. Default: a `MemoryState` that knows the
   * resources.
   */
  readonly state?: (() => State | Promise<State>) | undefined;
  /** The types of resources: each gets its definition, so that tools know how it is called and shown. */
  readonly resources: readonly AnyResourceType[];
  /** Descriptions of namespaces, by name; those of the resources are described by themselves. Default: none. */
  readonly namespaces?: Readonly<Record<string, string>> | undefined;
  /** Default: none. */
  readonly controllers?: readonly (Controller | QueueController)[] | undefined;
  /**
   * Further settings of the runtime. Its logger comes from {@link RunControlPlaneOptions}. Default of
   * `shutdownGraceMs`: what the time to stop leaves, 5 s less or a third less.
   */
  readonly runtime?: Omit<RuntimeOptions, "controllers" | "logger"> | undefined;
  /**
   * Where the State is served: `unix:PATH` or `tcp:HOST:PORT`, one or several. Default: left to the caller of `run`; `homeostat run` takes a unix socket on which its other commands find it. An empty list serves nowhere.
   */
  readonly listen?: string | readonly string[] | undefined;
  /** Runs once before the controllers start, for example to create resources. What it throws ends the control plane. */
  readonly onStart?: ((context: StartContext) => void | Promise<void>) | undefined;
  /** Activities beside the controllers. Default: none. */
  readonly tasks?: readonly PlaneTask[] | undefined;
  /**
   * Runs once when the control plane is asked to stop, while controllers, tasks and server still run, for example to
   * drain. Everything else stops when it returns or throws. Its signal aborts when the time to stop is over.
   */
  readonly onStop?: ((context: PlaneContext) => void | Promise<void>) | undefined;
}

/** A checked {@link ControlPlaneInit}, with its defaults filled in. */
export interface ControlPlane {
  readonly state: () => State | Promise<State>;
  readonly resources: readonly AnyResourceType[];
  readonly namespaces: ReadonlyMap<string, string>;
  readonly controllers: readonly (Controller | QueueController)[];
  readonly runtime: Omit<RuntimeOptions, "controllers" | "logger">;
  /** Undefined when it is left to the caller of `run`. */
  readonly listen: readonly string[] | undefined;
  readonly onStart: ((context: StartContext) => void | Promise<void>) | undefined;
  readonly tasks: readonly PlaneTask[];
  readonly onStop: ((context: PlaneContext) => void | Promise<void>) | undefined;
  /**
   * Runs everything until the signal aborts, then stops it in order and resolves.
   *
   * @throws the error of the first part that failed; the others are stopped before. It throws as well when a part does
   * not stop in time; the error names it.
   */
  run(options?: RunControlPlaneOptions): Promise<void>;
}

/** What {@link RunControlPlaneOptions.onRuntime} is given. */
export interface RuntimeContext {
  readonly runtime: Runtime;
  defer(this: void, cleanup: () => void | PromiseLike<void>): void;
}

/** Where a State is served. */
export interface Serving {
  /** The addresses, with the ports that were chosen. */
  readonly addresses: readonly string[];
  close(): Promise<void>;
}

/** How a control plane runs: until when, where it listens, where it logs. */
export interface RunControlPlaneOptions {
  /** Stops the control plane. */
  readonly signal?: AbortSignal | undefined;
  /** Default: to standard error. */
  readonly logger?: Logger | undefined;
  /** In place of the control plane's own {@link ControlPlaneInit.state}. Default: that. */
  readonly state?: (() => State | Promise<State>) | undefined;
  /** In place of the control plane's own {@link ControlPlaneInit.listen}. Default: that, or nowhere. */
  readonly listen?: readonly string[] | undefined;
  /** Who gets in where the State is served: certificates, tokens, access rule. Default: as `server` of `homeostat/grpc`. */
  readonly server?: Omit<StateServerOptions, "types" | "logger" | "clock"> | undefined;
  /**
   * Called once, before the controllers start, for example to show the metrics of the runtime. `defer` as in
   * {@link StartContext}. What it throws ends the control plane.
   */
  readonly onRuntime?: ((context: RuntimeContext) => void | Promise<void>) | undefined;
  /** Called once, when the controllers run and the State is served at these addresses. */
  readonly onReady?: ((addresses: readonly string[]) => void | Promise<void>) | undefined;
  /**
   * Called for each address that cannot be served; the control plane then runs without it. Default: that ends the
   * control plane.
   */
  readonly onListenError?: ((error: Error, address: string) => void) | undefined;
  /** Time for everything to stop, `onStop` included; may be `Infinity`. Unit: milliseconds. Default: 15 s. */
  readonly stopTimeoutMs?: number | undefined;
}
