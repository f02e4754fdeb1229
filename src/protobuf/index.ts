// A resource as the protobuf message of COSI, and specs that are protobuf messages themselves.
// Start with resource-encoder.ts and resource-decoder.ts; protobuf-spec.ts is what users call.
export {
  protobufSpec,
  type MessageSpec,
  type PlainMessage,
  type ProtobufSpec,
  type ProtobufSpecOptions,
} from "./protobuf-spec.ts";
export { encodeReadableSpec, isReadableRefusal, readableProbe } from "./readable-spec.ts";
export { ResourceDecoder, type DecodeOptions } from "./resource-decoder.ts";
export { contentOfField, ResourceEncoder } from "./resource-encoder.ts";
export { PROTO_SPEC_TAG, ResourceParts, SPEC_TAG } from "./resource-parts.ts";
export { formatInstant, instantOf, readTimestamp, writeTimestamp, type Instant } from "./timestamp.ts";
