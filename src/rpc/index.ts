// gRPC on node:http2: channel and server, with deadlines, flow control and bounds. It knows no State. Start with
// client/grpc-channel.ts and server/grpc-server.ts.
export { type Address, isLoopback, parseAddress } from "./address.ts";
export type { Authorize } from "./server/call-host.ts";
export type { ChannelState, GrpcCallOptions, GrpcChannelOptions } from "./client/channel-options.ts";
export { GrpcChannel } from "./client/grpc-channel.ts";
export { GrpcError, type GrpcErrorOptions, isGrpcError } from "./grpc-error.ts";
export { type GrpcCloseOptions, type GrpcListenOptions, GrpcServer } from "./server/grpc-server.ts";
export { ListenError, type ListenRefusal } from "./listen-error.ts";
export { FramedMessages, PREFIX_BYTES } from "./message-frame.ts";
export type { DuplexStream } from "./client/duplex-stream.ts";
export type { MessageStream } from "./client/message-stream.ts";
export { type HeaderFields, Metadata, type MetadataInit, type MetadataValue } from "./metadata.ts";
export type { ClientTls } from "./http2/node-http2-client.ts";
export type { ServerTls } from "./http2/node-http2-server.ts";
export type { Peer } from "./peer.ts";
export type {
  CallInfo,
  DuplexCall,
  DuplexMethod,
  OnShutdown,
  ServerCall,
  ServerMethod,
  ServerStreamCall,
  ServerStreamMethod,
  UnaryMethod,
} from "./server/server-method.ts";
export type { GrpcServerOptions } from "./server/server-options.ts";
export { parseStatus, Status, statusName } from "./status.ts";
