import {
  resolveBackoff,
  SystemClock,
  type BackoffOptions,
  type Clock,
  type ResolvedBackoff,
} from "../../clock/index.ts";
import type { MetadataInit } from "../metadata.ts";
import type { ClientTls } from "../http2/node-http2-client.ts";
import { size } from "../server/server-options.ts";

/** What a channel is doing about its connection. */
export type ChannelState = "idle" | "connecting" | "ready" | "backoff" | "closed";

/** Options of a {@link GrpcChannel}. */
export interface GrpcChannelOptions {
  /** Settings of TLS; `{}` for the system's authorities. Default: no TLS. */
  readonly tls?: ClientTls | undefined;
  /** Sent with every call; a function is asked for each, so that a token can be renewed. Default: none. */
  readonly metadata?: MetadataInit | (() => MetadataInit) | undefined;
  /** What the server sees as the authority of requests. Default: host and port; "localhost" on a unix socket. */
  readonly authority?: string | undefined;
  /** Calls wait for a connection instead of failing when there is none. Default: false. */
  readonly waitForReady?: boolean | undefined;
  /** With open calls and a silent server, the time until it is pinged. Default: 60 s; `Infinity` for never. */
  readonly keepaliveMs?: number | undefined;
  /** How long the server may take to answer a ping before the connection is given up. Default: 20 s. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** How long an attempt to connect may take, TLS included. Default: 20 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Largest message that is accepted. Unit: bytes. Default: 4 MiB. */
  readonly maxReceivedMessageBytes?: number | undefined;
  /** Largest header block that is accepted, trailers included. Unit: bytes. Default: 64 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** Waits between attempts to connect. Default: 100 ms at first, 1.6 times as long each time, 5 s at most, jitter 0.2. */
  readonly backoff?: BackoffOptions | undefined;
  /** Gives numbers from 0 up to, but not including, 1, by which these waits are spread. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Told of each change of {@link GrpcChannel.state}. */
  readonly onStateChange?: ((state: ChannelState, reason: string | undefined) => void) | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
}

export interface ResolvedChannelOptions {
  readonly tls: ClientTls | undefined;
  readonly metadata: MetadataInit | (() => MetadataInit) | undefined;
  readonly authority: string | undefined;
  readonly waitForReady: boolean;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly maxReceivedMessageBytes: number;
  readonly maxHeaderBytes: number;
  readonly backoff: ResolvedBackoff;
  readonly random: () => number;
  readonly onStateChange: (state: ChannelState, reason: string | undefined) => void;
  readonly clock: Clock;
}

/** Short enough that a server that restarts is found again soon. */
const RECONNECT: ResolvedBackoff = { initialMs: 100, multiplier: 1.6, jitter: 0.2, maxMs: 5_000 };

/** @throws {RangeError} When a number is out of its range, with its name. */
export function resolveChannelOptions(options: GrpcChannelOptions): ResolvedChannelOptions {
  return {
    tls: options.tls,
    metadata: options.metadata,
    authority: options.authority,
    waitForReady: options.waitForReady ?? false,
    keepaliveMs: size("keepaliveMs", options.keepaliveMs, 60_000, true),
    keepaliveTimeoutMs: size("keepaliveTimeoutMs", options.keepaliveTimeoutMs, 20_000, false),
    connectTimeoutMs: size("connectTimeoutMs", options.connectTimeoutMs, 20_000, false),
    maxReceivedMessageBytes: size("maxReceivedMessageBytes", options.maxReceivedMessageBytes, 4 * 1024 * 1024, false),
    maxHeaderBytes: size("maxHeaderBytes", options.maxHeaderBytes, 64 * 1024, false),
    backoff: resolveBackoff("backoff", options.backoff ?? {}, RECONNECT),
    random: options.random ?? Math.random,
    onStateChange: options.onStateChange ?? (() => {}),
    clock: options.clock ?? new SystemClock(),
  };
}

/** Options of one call. */
export interface GrpcCallOptions {
  /** Ends the call: it then rejects with the signal's own reason, and the server is told. */
  readonly signal?: AbortSignal | undefined;
  /** Time for the whole call, waiting for a connection included. Unit: milliseconds. Default: no limit. */
  readonly deadlineMs?: number | undefined;
  /** Sent beside the channel's, in place of what has the same name there. */
  readonly metadata?: MetadataInit | undefined;
  /** Default: the channel's. */
  readonly waitForReady?: boolean | undefined;
}
