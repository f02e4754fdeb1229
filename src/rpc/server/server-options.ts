import { type Clock, SystemClock } from "../../clock/index.ts";
import { type Logger, silentLogger } from "../../log/index.ts";
import type { Authorize } from "./call-host.ts";
import type { HeaderFields } from "../metadata.ts";
import { RESPONSE_HEADERS } from "./response/status-trailers.ts";
import type { ServerMethod } from "./server-method.ts";

/** Options of a {@link GrpcServer}. Bounds that are reached end a call with RESOURCE_EXHAUSTED. */
export interface GrpcServerOptions {
  /** What can be called, by full name: `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, ServerMethod>;
  /**
   * Decides who may call, before the message of a call is read to its end. It throws a `GrpcError` (UNAUTHENTICATED,
   * PERMISSION_DENIED) to refuse; what it gives, or what its promise gives, is the call's `identity`. Default: everyone
   * who can connect.
   */
  readonly authorize?: Authorize | undefined;
  /** Largest message that is accepted. Unit: bytes. Default: 4 MiB. */
  readonly maxReceivedMessageBytes?: number | undefined;
  /** Largest message that is sent. Unit: bytes. Default: no limit, as clients have their own. */
  readonly maxSentMessageBytes?: number | undefined;
  /** Bytes that a handler may send ahead of a client that does not read, before it is stopped. Default: 16 MiB. */
  readonly maxQueuedBytes?: number | undefined;
  /** Bytes of requests that are not complete yet, for each connection. Default: 64 MiB. */
  readonly maxReceivingBytes?: number | undefined;
  /** Sent with every response besides the usual headers. Default: none. */
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  /** Size of a request's headers, metadata included. Unit: bytes. Default: 16 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** Open calls, watches included, for each connection; a client waits with more. Default: 10,000. */
  readonly maxConcurrentCalls?: number | undefined;
  /** New calls per second, for each connection. Default: no limit. */
  readonly maxCallsPerSecond?: number | undefined;
  /** Open connections, for each address. More of them are closed at once. Default: 1,000. */
  readonly maxConnections?: number | undefined;
  /** Time between two pings that find out whether a client is still there. Default: 60 s; `Infinity` for none. */
  readonly keepaliveMs?: number | undefined;
  /** How long a client may take to answer a ping before its connection is cut. Default: 20 s. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Told of handlers that fail and of connections that are cut. Default: none. */
  readonly logger?: Logger | undefined;
}

export interface ResolvedServerOptions {
  readonly methods: ReadonlyMap<string, ServerMethod>;
  readonly authorize: Authorize | undefined;
  readonly maxReceivedMessageBytes: number;
  readonly maxSentMessageBytes: number;
  readonly maxQueuedBytes: number;
  readonly maxReceivingBytes: number;
  readonly responseHeaders: HeaderFields;
  readonly maxHeaderBytes: number;
  readonly maxConcurrentCalls: number;
  readonly maxCallsPerSecond: number;
  readonly maxConnections: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MIB = 1024 * 1024;

/** @throws {RangeError} When a number is out of its range, with its name. */
export function resolveServerOptions(options: GrpcServerOptions): ResolvedServerOptions {
  for (const path of options.methods.keys()) {
    if (!/^\/[^/]+\/[^/]+$/.test(path)) {
      throw new TypeError(`${JSON.stringify(path)} names no method; it looks like "/package.Service/Method"`);
    }
  }
  const maxReceivedMessageBytes = size("maxReceivedMessageBytes", options.maxReceivedMessageBytes, 4 * MIB, false);
  return {
    methods: new Map(options.methods),
    authorize: options.authorize,
    maxReceivedMessageBytes,
    maxSentMessageBytes: size("maxSentMessageBytes", options.maxSentMessageBytes, Infinity, true),
    maxQueuedBytes: size("maxQueuedBytes", options.maxQueuedBytes, 16 * MIB, false),
    maxReceivingBytes: size(
      "maxReceivingBytes",
      options.maxReceivingBytes,
      Math.max(64 * MIB, 2 * maxReceivedMessageBytes),
      false,
    ),
    responseHeaders: { ...RESPONSE_HEADERS, ...options.responseHeaders },
    maxHeaderBytes: size("maxHeaderBytes", options.maxHeaderBytes, 16 * 1024, false),
    maxConcurrentCalls: size("maxConcurrentCalls", options.maxConcurrentCalls, 10_000, false),
    maxCallsPerSecond: size("maxCallsPerSecond", options.maxCallsPerSecond, Infinity, true),
    maxConnections: size("maxConnections", options.maxConnections, 1_000, false),
    keepaliveMs: size("keepaliveMs", options.keepaliveMs, 60_000, true),
    keepaliveTimeoutMs: size("keepaliveTimeoutMs", options.keepaliveTimeoutMs, 20_000, false),
    clock: options.clock ?? new SystemClock(),
    logger: options.logger ?? silentLogger,
  };
}

/** Largest number that is a count or a size: HTTP/2 and timers have 31 bits for them. */
const MAX_VALUE = 2 ** 31 - 1;

/** Checks a number that is a count, a size or a time, and fills in its default. */
export function size(name: string, value: number | undefined, otherwise: number, endless: boolean): number {
  if (value === undefined) return otherwise;
  if (endless && value === Infinity) return value;
  if (value >= 1 && value <= MAX_VALUE) return Math.floor(value);
  throw new RangeError(
    `${name} must be a number from 1 to ${MAX_VALUE}${endless ? ", or Infinity" : ""}, got ${value}`,
  );
}
