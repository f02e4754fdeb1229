import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import type { AnyResourceType, TypeRegistry } from "../../resource/index.ts";
import type { ServerTls } from "../../rpc/index.ts";
import type { CallAccessRule } from "./access.ts";
import type { BearerToken } from "./bearer-tokens.ts";

/** Options of `server`. Bounds that are reached end a call with RESOURCE_EXHAUSTED. */
export interface StateServerOptions {
  /**
   * Types whose specs are decoded and checked as they come; give the State's own. Specs of all others stay opaque, their
   * bytes and YAML verbatim. Default: none.
   */
  readonly types?: TypeRegistry | Iterable<AnyResourceType> | undefined;
  /**
   * Certificate and key for connections over TCP, and with `ca` the authorities of clients: with `ca`, clients without a
   * certificate are refused. Unix sockets have their permissions instead.
   */
  readonly tls?: ServerTls | undefined;
  /**
   * Tokens of which every call must carry one, as `authorization: Bearer TOKEN`; those of the health service need none.
   * Default: no call needs one.
   */
  readonly tokens?: Iterable<BearerToken | string> | undefined;
  /** Decides on every operation. Default: every caller may do everything. */
  readonly access?: CallAccessRule | undefined;
  /**
   * Whether specs are also rendered as YAML, which is all that generic tools can show; a function decides by type.
   * It takes some time for each new spec. Default: true.
   */
  readonly yaml?: boolean | ((type: string) => boolean) | undefined;
  /** Largest request that is accepted. Unit: bytes. Default: 32 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Size above which the events of a batch are split into several messages. Unit: bytes. Default: 1 MiB. */
  readonly batchBytes?: number | undefined;
  /** Largest number of events in one message. Default: 1,000. */
  readonly batchEvents?: number | undefined;
  /** Open watches, for each connection. Default: 10,000. */
  readonly maxWatchesPerConnection?: number | undefined;
  /** Open calls, watches included, for each connection; a client waits with more. Each takes about 5 KB. Default: 11,000. */
  readonly maxCallsPerConnection?: number | undefined;
  /**
   * Lets our own clients make their calls on one stream, which costs them and the server much less. Others see nothing
   * of it. Default: true.
   */
  readonly sessions?: boolean | undefined;
  /**
   * Serves `grpc.reflection.v1` and `v1alpha`, from which tools such as grpcurl learn the services and their messages.
   * Default: false.
   */
  readonly reflection?: boolean | undefined;
  /** New calls per second, for each connection. Default: no limit. */
  readonly maxCallsPerSecond?: number | undefined;
  /** Open connections, for each address. More of them are closed at once. Default: 1,000. */
  readonly maxConnections?: number | undefined;
  /** Time between two pings that find out whether a client is still there. Default: 60 s; `Infinity` for none. */
  readonly keepaliveMs?: number | undefined;
  /** How long a client may take to answer a ping before its connection is cut. Default: 20 s. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** Permissions of unix sockets; who may write may connect. Default: 0o600, this user alone. */
  readonly socketMode?: number | undefined;
  /** Allows to listen without TLS where other machines can connect. Default: false. */
  readonly allowInsecurePublic?: boolean | undefined;
  /** Told of operations that fail for no good reason, and of connections that are cut. Default: none. */
  readonly logger?: Logger | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
}
