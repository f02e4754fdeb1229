// The State service on the wire, in both directions: a server for any State, and a State behind a connection. Start
// with server/state-service.ts and client/remote-state.ts; the transport under it is rpc/.
export {
  protobufSpec,
  type MessageSpec,
  type PlainMessage,
  type ProtobufSpec,
  type ProtobufSpecOptions,
} from "../protobuf/index.ts";
export { askServerVersion } from "./client/ask-server-version.ts";
export { connect } from "./client/connect.ts";
export type { ServerVersion } from "./server-version.ts";
export type { ConnectOptions, WatchInterruption, WatchResumption } from "./client/client-options.ts";
export type { WatchRetryOptions } from "./client/watch/watch-retry.ts";
export { accessDenied } from "./server/access-denied.ts";
export { server, type StateServer } from "./server/state-server.ts";
export type { BearerToken } from "./server/bearer-tokens.ts";
export type { CallAccess, CallAccessRule } from "./server/access.ts";
export type { Caller } from "./server/caller.ts";
export type { StateServerOptions } from "./server/server-options.ts";
export {
  type ChannelState,
  type ClientTls,
  GrpcError,
  isGrpcError,
  ListenError,
  type ListenRefusal,
  type Metadata,
  type MetadataInit,
  type Peer,
  type ServerTls,
  Status,
  statusName,
} from "../rpc/index.ts";
export { defaultEndpoint, type DefaultEndpointOptions } from "./default-endpoint.ts";
export { encodeReadableSpec, isReadableRefusal, readableProbe } from "../protobuf/index.ts";
