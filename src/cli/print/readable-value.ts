import { Handle, OpaqueSpec, sourceOf, type Resource } from "../../resource/index.ts";

/** A spec of a type that is not known here, as plain data. @throws {YamlError} when the YAML of a peer cannot be read. */
export async function readableValue(spec: unknown): Promise<unknown> {
  if (!(spec instanceof OpaqueSpec)) return spec;
  const { opaqueValue } = await import("../../yaml/index.ts");
  return opaqueValue(spec);
}

/** The spec as people see it, as plain data. @throws {YamlError} when the YAML of a peer cannot be read. */
export async function readableSpec(resource: Resource): Promise<unknown> {
  const { spec } = resource;
  if (spec instanceof OpaqueSpec) return readableValue(spec);
  const codec = sourceOf(resource)?.codec;
  return codec?.toReadable === undefined ? spec : codec.toReadable(spec);
}

/** What JSON has no word for. */
interface Substitutes {
  readonly bigint: (value: bigint) => unknown;
}

/** `value` as JSON knows it: bytes become base64, a live object what it says of itself. */
function toJsonValue(value: unknown, substitutes: Substitutes): unknown {
  if (typeof value === "bigint") return substitutes.bigint(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Handle) return handleValue(value, substitutes);
  if (value instanceof OpaqueSpec) return value.yaml ?? null;
  if (Array.isArray(value)) return value.map((part) => toJsonValue(part, substitutes));
  const entries = Object.entries(value).map(([key, part]) => [key, toJsonValue(part, substitutes)] as const);
  return Object.fromEntries(entries);
}

function handleValue(handle: Handle<object>, substitutes: Substitutes): unknown {
  const target = handle.target as { toJSON?: unknown; toString: () => string };
  return typeof target.toJSON === "function" ? toJsonValue(target.toJSON(), substitutes) : target.toString();
}

/** `JSON.rawJSON` is older than the compiler's declarations of it. */
const { rawJSON } = JSON as typeof JSON & { rawJSON: (text: string) => unknown };

/** JSON text of plain data; whole numbers of any size keep all their digits. */
export function formatJson(value: unknown, indent?: number): string {
  return JSON.stringify(toJsonValue(value, { bigint: (number) => rawJSON(String(number)) }), undefined, indent);
}

/** Plain data for path expressions; whole numbers beyond 2^53 become texts, so that no digit is lost. */
export function toQueryable(value: unknown): unknown {
  return toJsonValue(value, { bigint: String });
}
