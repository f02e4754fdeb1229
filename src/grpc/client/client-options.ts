import { type Clock, SystemClock } from "../../clock/index.ts";
import { type Logger, silentLogger } from "../../log/index.ts";
import { type AnyResourceType, type Kind, TypeRegistry } from "../../resource/index.ts";
import type { ChannelState, ClientTls, MetadataInit } from "../../rpc/index.ts";
import { type ResolvedWatchRetry, resolveWatchRetry, type WatchRetryOptions } from "./watch/watch-retry.ts";

/** A watch whose connection broke, and which is to be opened again. */
export interface WatchInterruption {
  readonly kind: Kind;
  /** Present for the watch of one resource. */
  readonly id: string | undefined;
  readonly error: Error;
}

/** A watch that goes on after an interruption. */
export interface WatchResumption {
  readonly kind: Kind;
  readonly id: string | undefined;
  /** True when it could not go on where it was and begins with the present contents: it delivers `Resynced` next. */
  readonly resynced: boolean;
}

/** Options of `connect`. */
export interface ConnectOptions {
  /** Types whose specs are decoded and checked as they come. Specs of all others stay opaque. Default: none. */
  readonly types?: TypeRegistry | Iterable<AnyResourceType> | undefined;
  /** Leaves every spec as the server sent it, bytes and YAML, also of known types. Default: false. */
  readonly skipDecoding?: boolean | undefined;
  /**
   * Whether specs are also sent as YAML, which is all that generic tools can show of them; a function decides by type.
   * Default: true.
   */
  readonly yaml?: boolean | ((type: string) => boolean) | undefined;
  /** Settings of TLS; `{}` for the system's authorities. Default: no TLS. */
  readonly tls?: ClientTls | undefined;
  /** Sent with every call as `authorization: Bearer TOKEN`; a function is asked each time. Default: none. */
  readonly token?: string | (() => string) | undefined;
  /** Sent with every call, for example Talos' `node`; a function is asked each time. Default: none. */
  readonly metadata?: MetadataInit | (() => MetadataInit) | undefined;
  /** What the server sees as the authority of requests. Default: host and port; `localhost` on a unix socket. */
  readonly authority?: string | undefined;
  /**
   * How long the server may take for an answer, for each further part of a list, and to open a watch. Waits that may
   * last (watches, `teardownAndDestroy`) have no limit but their signal. Default: 60 s; `Infinity` for none.
   */
  readonly timeoutMs?: number | undefined;
  /** How long an attempt to connect may take, TLS included. Default: 20 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** With open calls and a silent server, the time until it is pinged. Default: 30 s; `Infinity` for never. */
  readonly keepaliveMs?: number | undefined;
  /** How long the server may take to answer a ping before the connection is given up. Default: 20 s. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** Largest message that is accepted. Unit: bytes. Default: 32 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Makes calls on one stream where the server has that, as ours does: a call then costs two messages instead of a
   * stream. Default: true.
   */
  readonly session?: boolean | undefined;
  /** How watches survive the loss of their connection. */
  readonly watchRetry?: WatchRetryOptions | undefined;
  /** Told once for each time that a watch is interrupted: what is known of the kind may be stale from now on. */
  readonly onWatchInterrupted?: ((interruption: WatchInterruption) => void) | undefined;
  /** Told when an interrupted watch goes on. One that fails instead says so by its `Errored` event. */
  readonly onWatchResumed?: ((resumption: WatchResumption) => void) | undefined;
  /** Told of each change of the connection. */
  readonly onConnectionChange?: ((state: ChannelState, reason: string | undefined) => void) | undefined;
  /** Told of retries. Default: none. */
  readonly logger?: Logger | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Gives numbers from 0 up to, but not including, 1, by which waits are spread. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export interface ResolvedClientOptions {
  readonly types: TypeRegistry;
  readonly yaml: boolean | ((type: string) => boolean);
  readonly timeoutMs: number;
  readonly session: boolean;
  readonly watchRetry: ResolvedWatchRetry;
  readonly onWatchInterrupted: (interruption: WatchInterruption) => void;
  readonly onWatchResumed: (resumption: WatchResumption) => void;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
}

/** @throws {RangeError | TypeError} When an option is out of its range, with its name. */
export function resolveClientOptions(options: ConnectOptions): ResolvedClientOptions {
  const { timeoutMs = 60_000 } = options;
  if (!(timeoutMs > 0)) throw new RangeError(`timeoutMs must be more than 0, got ${timeoutMs}`);
  return {
    types: options.skipDecoding === true ? new TypeRegistry() : registryOf(options.types),
    yaml: options.yaml ?? true,
    timeoutMs,
    session: options.session ?? true,
    watchRetry: resolveWatchRetry(options.watchRetry),
    onWatchInterrupted: options.onWatchInterrupted ?? (() => {}),
    onWatchResumed: options.onWatchResumed ?? (() => {}),
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? new SystemClock(),
    random: options.random ?? Math.random,
  };
}

function registryOf(types: TypeRegistry | Iterable<AnyResourceType> | undefined): TypeRegistry {
  return types instanceof TypeRegistry ? types : new TypeRegistry(types);
}
