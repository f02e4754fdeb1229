export {
  protobufSpec,
  type MessageSpec,
  type PlainMessage,
  type ProtobufSpec,
  type ProtobufSpecOptions,
} from "./protobuf-spec.ts";
export {
  connect,
  type ConnectOptions,
  type WatchInterruption,
  type WatchResumption,
  type WatchRetryOptions,
} from "./client/index.ts";
export {
  accessDenied,
  server,
  type BearerToken,
  type CallAccess,
  type CallAccessRule,
  type Caller,
  type StateServer,
  type StateServerOptions,
} from "./server/index.ts";
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
} from "./transport/index.ts";
export { defaultEndpoint, type DefaultEndpointOptions } from "./default-endpoint.ts";
export { encodeReadableSpec, isReadableRefusal, readableProbe } from "./messages/readable-spec.ts";
