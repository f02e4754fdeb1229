import { UnencodableTextError, WireWriter } from "../../wire/index.ts";
import { StateError } from "../../resource/index.ts";

/**
 * A message of what `write` writes.
 *
 * @param capacity - About how long it will be. Unit: bytes.
 * @throws {StateError} `invalid` for a text that has no UTF-8 form.
 */
export function encodeMessage(write: (writer: WireWriter) => void, capacity = 256): Uint8Array {
  // From the pool that small buffers share: a block of memory for each would take longer than to fill it.
  const writer = new WireWriter(Buffer.allocUnsafe(capacity));
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
