import { abbreviationsOf, definitionOf } from "./definition.ts";
import type { ResourceDefinitionSpec } from "./meta-specs.ts";
import { withSpec, type Resource } from "../resource.ts";
import type { AnyResourceType } from "./resource-type.ts";
import { hasCode } from "../state-error.ts";

type Definition = Resource<ResourceDefinitionSpec>;

/** What an alias of a type is worth when another type claims it as well: the strongest claims keep it. */
const Claim = { abbreviation: 0, alias: 1, name: 2 } as const;
type Claim = (typeof Claim)[keyof typeof Claim];

/**
 * The definitions of types that people use side by side, as {@link definitionOf} makes each of them, without the aliases
 * that would mean several: a type's own name goes before an alias that it was given, and that before an abbreviation that
 * was derived from its capitals. An abbreviation of several types is left to none.
 *
 * Types whose names follow no rules have no definition, and are left out.
 */
export async function definitionsOf(
  types: Iterable<AnyResourceType>,
): Promise<ReadonlyMap<AnyResourceType, Definition>> {
  const definitions = new Map<AnyResourceType, Definition>();
  for (const type of new Set(types)) {
    const definition = await definitionOrUndefined(type);
    if (definition !== undefined) definitions.set(type, definition);
  }
  const claims = [...definitions].map(([type, { spec }]) => claimsOf(type, spec));
  const kept = [...definitions].map(([type, definition], i): [AnyResourceType, Definition] => {
    const isKept = (alias: string): boolean =>
      claims.every((other, j) => i === j || !isStronger(other, claims[i], alias));
    const { spec } = definition;
    if (spec.allAliases.every(isKept)) return [type, definition];
    const [aliases, allAliases] = [spec.aliases.filter(isKept), spec.allAliases.filter(isKept)];
    return [type, withSpec(definition, { ...spec, aliases, allAliases })];
  });
  return new Map(kept);
}

async function definitionOrUndefined(type: AnyResourceType): Promise<Definition | undefined> {
  try {
    return await definitionOf(type);
  } catch (error) {
    if (hasCode(error, "invalid")) return undefined;
    throw error;
  }
}

function claimsOf({ type, presentation }: AnyResourceType, spec: Definition["spec"]): ReadonlyMap<string, Claim> {
  const [name = ""] = type.split(".", 1);
  const given = new Set(presentation.aliases.map((alias) => alias.toLowerCase()));
  const abbreviations = new Set(abbreviationsOf(name));
  const names = new Set([type.toLowerCase(), name.toLowerCase(), spec.displayType.toLowerCase()]);
  const claimOf = (alias: string): Claim => {
    if (names.has(alias)) return Claim.name;
    if (given.has(alias)) return Claim.alias;
    return abbreviations.has(alias) ? Claim.abbreviation : Claim.name;
  };
  const all = [type, ...spec.allAliases].map((alias) => alias.toLowerCase());
  return new Map(all.map((alias) => [alias, claimOf(alias)]));
}

/** True when the other type has the better claim; for abbreviations, when it has any. */
function isStronger(
  other: ReadonlyMap<string, Claim>,
  own: ReadonlyMap<string, Claim> | undefined,
  alias: string,
): boolean {
  const [theirs, ours] = [other.get(alias.toLowerCase()), own?.get(alias.toLowerCase())];
  if (theirs === undefined || ours === undefined) return false;
  return theirs > ours || (theirs === Claim.abbreviation && ours === Claim.abbreviation);
}
