import { defineResource, NamespaceType, ResourceDefinitionType, type AnyResourceType } from "../../resource/index.ts";
import type { NamedKind } from "../args/named-kind.ts";

/** Lets every spec pass: the State that the resource goes to has the schema. */
const ANYTHING = {
  "~standard": {
    version: 1,
    vendor: "homeostat",
    validate: (value: unknown): { readonly value: unknown } => ({ value }),
  },
} as const;

/** The types that are the same everywhere: their specs are checked here, and written as every peer reads them. */
export const KNOWN_TYPES: ReadonlyMap<string, AnyResourceType> = new Map(
  [ResourceDefinitionType, NamespaceType].map((type) => [type.type, type]),
);

/** A type to read manifests by; most are known by their definition only, and then any spec passes. */
export function looseType(
  { type, defaultNamespace, names }: NamedKind,
  namespace: string = defaultNamespace,
): AnyResourceType {
  const known = KNOWN_TYPES.get(type);
  if (known !== undefined) return known.in(namespace);
  return defineResource({ type, namespace, spec: ANYTHING, aliases: names, skipAutomaticAliases: true });
}
