export { type Address, parseAddress } from "./address.ts";
export type { Authorize } from "./call-host.ts";
export type { ChannelState, GrpcCallOptions, GrpcChannelOptions } from "./channel-options.ts";
export { GrpcChannel } from "./grpc-channel.ts";
export { GrpcError, type GrpcErrorOptions, isGrpcError } from "./grpc-error.ts";
export { type GrpcCloseOptions, type GrpcListenOptions, GrpcServer } from "./grpc-server.ts";
export { ListenError, type ListenRefusal } from "./listen-error.ts";
export { FramedMessages } from "./message-frame.ts";
export type { MessageStream } from "./message-stream.ts";
export { type HeaderFields, Metadata, type MetadataInit, type MetadataValue } from "./metadata.ts";
export type { ClientTls } from "./node-http2-client.ts";
export type { ServerTls } from "./node-http2-server.ts";
export type { Peer } from "./peer.ts";
export type { ReconnectBackoffOptions } from "./reconnect-backoff.ts";
export type {
  CallInfo,
  OnShutdown,
  ServerCall,
  ServerMethod,
  ServerStreamCall,
  ServerStreamMethod,
  UnaryMethod,
} from "./server-method.ts";
export type { GrpcServerOptions } from "./server-options.ts";
export { Status, statusName } from "./status.ts";
