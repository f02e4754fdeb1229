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
