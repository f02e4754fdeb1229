/** Error codes of HTTP/2 (RFC 9113, section 7): the name, then what it says about the sender's peer. */
const CODES: readonly (readonly [name: string, meaning: string])[] = [
  ["NO_ERROR", "no error"],
  ["PROTOCOL_ERROR", "the protocol was violated"],
  ["INTERNAL_ERROR", "an internal error"],
  ["FLOW_CONTROL_ERROR", "more was sent than flow control allows"],
  ["SETTINGS_TIMEOUT", "the settings were not acknowledged in time"],
  ["STREAM_CLOSED", "data came for a stream that is closed"],
  ["FRAME_SIZE_ERROR", "a frame has the wrong size"],
  ["REFUSED_STREAM", "the call was not processed"],
  ["CANCEL", "the call is not wanted any more"],
  ["COMPRESSION_ERROR", "the headers cannot be decompressed"],
  ["CONNECT_ERROR", "the connection of a CONNECT request failed"],
  ["ENHANCE_YOUR_CALM", "too many requests or pings, or too much work"],
  ["INADEQUATE_SECURITY", "the TLS settings are not good enough"],
  ["HTTP_1_1_REQUIRED", "HTTP/1.1 is required"],
];

/** An error code of HTTP/2 in words, for example `REFUSED_STREAM (the call was not processed)`. */
export function describeHttp2Code(code: number): string {
  const [name, meaning] = CODES[code] ?? [];
  return name === undefined ? `code ${code}, which HTTP/2 does not define` : `${name} (${meaning})`;
}

/** An error of Node's with the code of HTTP/2 that it names put in words. */
export function describeHttp2Error({ message }: Error): string {
  const [, digits, name] = /with error code (?:(\d+)|NGHTTP2_(\w+))$/.exec(message) ?? [];
  const code = digits === undefined ? CODES.findIndex(([known]) => known === name) : Number(digits);
  return code < 0 ? message : `the peer ended the connection: ${describeHttp2Code(code)}`;
}
