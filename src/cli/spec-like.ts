import { jsonCodec, OpaqueSpec, type Pointer } from "../resource/index.ts";
import { CliError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";
import { KNOWN_TYPES } from "./loose-type.ts";

/**
 * A new spec in the form in which the stored one travels.
 *
 * @throws {CliError} failed, when that is a form that only programs which know the type can write.
 */
export async function specLike(pointer: Pointer, stored: unknown, value: unknown): Promise<unknown> {
  if (!(stored instanceof OpaqueSpec)) return value;
  const type = KNOWN_TYPES.get(pointer.type);
  if (type !== undefined || stored.bytes === undefined) {
    const { formatSpec } = await import("../yaml/index.ts");
    const bytes = type?.codec.encode(type.parseSpec(value, pointer));
    return new OpaqueSpec({ bytes, yaml: formatSpec(value) });
  }
  if (isJson(stored.bytes)) return value;
  const message = "its spec travels in a binary form, which only programs that know the type can write";
  throw new CliError(ExitCode.failed, message);
}

function isJson(bytes: Uint8Array): boolean {
  try {
    jsonCodec.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
