import type { Controller, QueueController } from "../controller/index.ts";
import type { Logger } from "../log/index.ts";
import type { AnyResourceType } from "../resource/index.ts";
import type { RuntimeOptions } from "../runtime/index.ts";
import type { State } from "../state/index.ts";

/** What {@link ControlPlaneInit.onStart} is given. */
export interface StartContext {
  readonly state: State;
  /** Aborts when the control plane stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
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
  /** Further settings of the runtime. Its logger is given by whoever runs the control plane. */
  readonly runtime?: Omit<RuntimeOptions, "controllers" | "logger"> | undefined;
  /**
   * Where the State is served: `unix:PATH` or `tcp:HOST:PORT`, one or several. Default: left to whoever runs the control
   * plane; `homeostat run` takes a unix socket on which its other commands find it. An empty list serves nowhere.
   */
  readonly listen?: string | readonly string[] | undefined;
  /** Runs once before the controllers start, for example to create resources. What it throws ends the control plane. */
  readonly onStart?: ((context: StartContext) => void | Promise<void>) | undefined;
}

/** A checked {@link ControlPlaneInit}, with its defaults filled in. */
export interface ControlPlane {
  readonly state: () => State | Promise<State>;
  readonly resources: readonly AnyResourceType[];
  readonly namespaces: ReadonlyMap<string, string>;
  readonly controllers: readonly (Controller | QueueController)[];
  readonly runtime: Omit<RuntimeOptions, "controllers" | "logger">;
  /** Undefined when it is left to whoever runs the control plane. */
  readonly listen: readonly string[] | undefined;
  readonly onStart: ((context: StartContext) => void | Promise<void>) | undefined;
  /**
   * Runs everything until the signal aborts, then stops it in order and resolves.
   *
   * @throws the error of the first part that failed; the others are stopped before. It throws as well when a part does
   * not stop in time.
   */
  run(options?: RunControlPlaneOptions): Promise<void>;
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
  /** In place of the control plane's own {@link ControlPlaneInit.listen}. Default: that, or nowhere. */
  readonly listen?: readonly string[] | undefined;
  /** Called once, when the controllers run and the State is served at these addresses. */
  readonly onReady?: ((addresses: readonly string[]) => void | Promise<void>) | undefined;
  /** Time for everything to stop. Unit: milliseconds. Default: 15 s. */
  readonly stopTimeoutMs?: number | undefined;
}
