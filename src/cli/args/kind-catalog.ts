import { META_NAMESPACE, ResourceDefinitionType } from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { notFoundError, usageError } from "../cli-error.ts";
import { closestOf } from "./closest-name.ts";
import { readDefinition, undescribedKind, type NamedKind } from "./named-kind.ts";

/** `Plural.group.domain`: what may be the full name of a type without a definition. */
const FULL_TYPE = /^[A-Z][A-Za-z0-9-]*(?:\.[a-z0-9-]+)+$/;

/** Enough to find a mistake by. */
const MAX_SHOWN = 10;

/** The types that a State describes, found by what people call them. */
export class KindCatalog {
  readonly kinds: readonly NamedKind[];

  constructor(kinds: readonly NamedKind[]) {
    this.kinds = kinds;
  }

  /**
   * The type called `name`, in any case: by its full name, else by an alias, its singular or plural, else by the start
   * of any of these. A full name without a definition stands for itself: see {@link NamedKind.isDescribed}.
   *
   * @throws {CliError} not found, with the closest name; usage, when several types are called so.
   */
  find(name: string): NamedKind {
    const wanted = name.toLowerCase();
    if (wanted === "") throw usageError("the type is empty");
    const byFullName = this.kinds.find(({ type }) => type.toLowerCase() === wanted);
    if (byFullName !== undefined) return byFullName;
    return (
      this.#one(name, (candidate) => candidate === wanted) ??
      this.#one(name, (candidate) => candidate.startsWith(wanted)) ??
      this.#unknown(name)
    );
  }

  #one(name: string, matches: (candidate: string) => boolean): NamedKind | undefined {
    const [kind, ...others] = this.kinds.filter(({ names }) => names.some(matches));
    if (kind === undefined || others.length === 0) return kind;
    throw usageError(`${JSON.stringify(name)} could be any of ${shortList([kind, ...others].map(({ type }) => type))}`);
  }

  /** A type without a definition, by its full name; undefined for what cannot be one. */
  findUndescribed(name: string): NamedKind | undefined {
    return FULL_TYPE.test(name) ? undescribedKind(name) : undefined;
  }

  #unknown(name: string): NamedKind {
    const undescribed = this.findUndescribed(name);
    if (undescribed !== undefined) return undescribed;
    const closest = closestOf(name.toLowerCase(), new Set(this.kinds.flatMap(({ names }) => names)));
    const types = this.kinds.map(({ displayType }) => displayType.toLowerCase());
    const hint =
      closest !== undefined
        ? `did you mean ${closest}?`
        : types.length === 0
          ? "the endpoint describes no types; an undescribed one can be given by its full name"
          : `there are ${shortList(types)}`;
    throw notFoundError(`there is no type called ${JSON.stringify(name)}; ${hint}`);
  }
}

/** Reads the definitions of a State. Those that make no sense are passed over: peers may send anything. */
export async function loadKinds(state: State, signal: AbortSignal): Promise<KindCatalog> {
  const definitions = await state.list({ namespace: META_NAMESPACE, type: ResourceDefinitionType.type }, { signal });
  const kinds: NamedKind[] = [];
  for (const definition of definitions) {
    const kind = await readDefinition(definition);
    if (kind !== undefined) kinds.push(kind);
  }
  return new KindCatalog(kinds);
}

function shortList(names: readonly string[]): string {
  const sorted = [...new Set(names)].toSorted();
  const more = sorted.length - MAX_SHOWN;
  return `${sorted.slice(0, MAX_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
