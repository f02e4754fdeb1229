import { definitionsOf, type AnyResourceType } from "../resource/index.ts";

/** A type, or why there is none. */
export type NamedType = { readonly type: AnyResourceType } | { readonly reason: string };

/** Enough to find a mistake by. */
const MAX_SHOWN = 10;

/**
 * Finds types by what people call them: the full name, or any alias of their definition in any case (`Service`,
 * `services`, `svc`), as long as only one type is called so.
 */
export class TypeNames {
  readonly #types: ReadonlyMap<string, AnyResourceType>;
  readonly #otherTypes: (name: string) => AnyResourceType | undefined;
  #aliases: Promise<ReadonlyMap<string, readonly AnyResourceType[]>> | undefined;

  /** @param otherTypes - Asked for names that no type has. Default: there are none. */
  constructor(
    types: Iterable<AnyResourceType>,
    otherTypes: (name: string) => AnyResourceType | undefined = () => undefined,
  ) {
    this.#types = new Map(Array.from(types, (type) => [type.type, type]));
    this.#otherTypes = otherTypes;
  }

  async find(name: string): Promise<NamedType> {
    const exact = this.#types.get(name);
    if (exact !== undefined) return { type: exact };
    this.#aliases ??= aliasesOf(this.#types.values());
    const [type, ...others] = (await this.#aliases).get(name.toLowerCase()) ?? [];
    const other = type === undefined ? this.#otherTypes(name) : undefined;
    if (other !== undefined) return { type: other };
    if (type === undefined) return { reason: `is not a known type; known: ${this.#list(this.#types.values())}` };
    if (others.length > 0) return { reason: `could be any of ${this.#list([type, ...others])}; write the full type` };
    return { type };
  }

  #list(types: Iterable<AnyResourceType>): string {
    const names = Array.from(types, ({ type }) => type).sort();
    const more = names.length - MAX_SHOWN;
    return `${names.slice(0, MAX_SHOWN).join(", ") || "none"}${more > 0 ? ` and ${more} more` : ""}`;
  }
}

/** A type whose name does not follow the rules of definitions is called by that name alone. */
async function aliasesOf(types: Iterable<AnyResourceType>): Promise<ReadonlyMap<string, readonly AnyResourceType[]>> {
  const all = [...types];
  const definitions = await definitionsOf(all);
  const aliases = new Map<string, AnyResourceType[]>();
  for (const type of all) {
    const names = [type.type, ...(definitions.get(type)?.spec.allAliases ?? [])];
    for (const alias of new Set(names.map((name) => name.toLowerCase()))) {
      const known = aliases.get(alias);
      if (known === undefined) aliases.set(alias, [type]);
      else known.push(type);
    }
  }
  return aliases;
}
