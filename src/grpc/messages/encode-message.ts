import { UnencodableTextError, WireWriter } from "../../internal/wire-writer.ts";
import { StateError } from "../../resource/index.ts";

/** A message of what `write` writes. @throws {StateError} `invalid` for a text that has no UTF-8 form. */
export function encodeMessage(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter();
  try {
    write(writer);
  } catch (cause) {
    if (cause instanceof UnencodableTextError) {
      throw new StateError("invalid", `the request cannot be encoded: ${cause.message}`, { cause });
    }
    throw cause;
  }
  return writer.take();
}
