import { encodingOf, setEncoding, type Resource } from "./resource.ts";

// Encodings stand beside resources. These are frozen, so what was made of them stays true for as long as they live; one
// that is never encoded spends nothing on it. (A `WeakMap` would spend a third of the time that encoding takes.)

/**
 * The encoding that {@link keepEncoding} put beside this very resource, if it has one in this form.
 *
 * @param form - Only that of the last form is kept.
 */
export function keptEncoding(resource: Resource, form: string): string | undefined {
  const encoding = encodingOf(resource);
  return encoding?.form === form ? encoding.whole : undefined;
}

/** As {@link keptEncoding} for the spec alone: copies of the resource under other metadata share it. */
export function keptSpecEncoding(resource: Resource, form: string): string | undefined {
  const encoding = encodingOf(resource);
  return encoding?.form === form ? encoding.spec : undefined;
}

/**
 * Puts the encoding of a sealed resource beside it; a resource that is not sealed keeps none.
 *
 * @param whole - That of the resource, unless only its spec has been encoded.
 */
export function keepEncoding(resource: Resource, form: string, spec: string, whole?: string): void {
  setEncoding(resource, { form, spec, whole });
}
