// The protobuf wire format by hand: a reader, a writer, and a cache of texts that come again and again.
// Start with wire-reader.ts; it knows no message, only fields.
export { TextCache } from "./text-cache.ts";
export { WireError, WireReader } from "./wire-reader.ts";
export { sizeOfVarint, UnencodableTextError, WireWriter } from "./wire-writer.ts";
