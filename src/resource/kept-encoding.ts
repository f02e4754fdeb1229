import type { Resource } from "./resource.ts";

/** Bytes that were made of something, in one of several forms. */
interface Encoding {
  readonly form: string;
  readonly bytes: Uint8Array;
}

/**
 * Bytes beside the values that they were made of. The values are frozen, so the bytes stay true for as long as the
 * values live; what is never encoded takes no memory here.
 */
const ofResource = new WeakMap<object, Encoding>();
const ofSpec = new WeakMap<object, Encoding>();

/**
 * The bytes that {@link keepEncoding} put beside this very resource, if it has some in this form.
 *
 * @param form - Tells apart the forms in which a resource may be encoded; only the last one is kept.
 */
export function keptEncoding(resource: Resource, form: string): Uint8Array | undefined {
  return inForm(ofResource.get(resource), form);
}

/** Puts bytes made of a sealed resource beside it. Nobody may change them afterwards. */
export function keepEncoding(resource: Resource, form: string, bytes: Uint8Array): void {
  ofResource.set(resource, { form, bytes });
}

/** As {@link keptEncoding} for the spec alone: copies of the resource under other metadata share it. */
export function keptSpecEncoding(resource: Resource, form: string): Uint8Array | undefined {
  const { spec } = resource;
  return typeof spec === "object" && spec !== null ? inForm(ofSpec.get(spec), form) : undefined;
}

/** As {@link keepEncoding} for the spec alone. */
export function keepSpecEncoding(resource: Resource, form: string, bytes: Uint8Array): void {
  const { spec } = resource;
  if (typeof spec === "object" && spec !== null) ofSpec.set(spec, { form, bytes });
}

function inForm(encoding: Encoding | undefined, form: string): Uint8Array | undefined {
  return encoding?.form === form ? encoding.bytes : undefined;
}
