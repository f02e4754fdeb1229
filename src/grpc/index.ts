export {
  protobufSpec,
  type MessageSpec,
  type PlainMessage,
  type ProtobufSpec,
  type ProtobufSpecOptions,
} from "./protobuf-spec.ts";
