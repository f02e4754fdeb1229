import { defineResource, type AnyResourceType } from "../resource/index.ts";
import type { NamedKind } from "./named-kind.ts";

/** Lets every spec pass: the State that the resource goes to has the schema. */
const ANYTHING = {
  "~standard": {
    version: 1,
    vendor: "homeostat",
    validate: (value: unknown): { readonly value: unknown } => ({ value }),
  },
} as const;

/** A type that is known by its definition only, to read manifests by. */
export function looseType(
  { type, defaultNamespace, names }: NamedKind,
  namespace: string = defaultNamespace,
): AnyResourceType {
  return defineResource({ type, namespace, spec: ANYTHING, aliases: names, skipAutomaticAliases: true });
}
