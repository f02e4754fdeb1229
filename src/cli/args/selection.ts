import { NamespaceType, parseLabelSelector, type Kind, type LabelQuery, type Pointer } from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { usageError } from "../cli-error.ts";
import type { KindCatalog } from "./kind-catalog.ts";
import type { NamedKind } from "./named-kind.ts";

/** A type as the user called it, and the ids asked for: none means all. */
export interface Selection {
  readonly typeName: string;
  readonly ids: readonly string[];
}

/**
 * What the arguments of a command name: `TYPE`, `TYPE,TYPE`, `TYPE ID…` or `TYPE/ID…`. A slash in an id is its own as
 * long as the type stands alone.
 *
 * @throws {CliError} usage
 */
export function parseSelections(args: readonly string[]): readonly Selection[] {
  const [first, ...rest] = args;
  if (first === undefined) throw usageError("a type is missing");
  if (first.includes("/")) return groupByType(args);
  if (first.includes(",")) {
    if (rest.length > 0) throw usageError("ids can be given for one type only; write TYPE/ID for several types");
    return [...new Set(first.split(","))].map((typeName) => ({ typeName, ids: [] }));
  }
  const empty = rest.indexOf("");
  if (empty >= 0) throw usageError("an id is empty");
  return [{ typeName: first, ids: [...new Set(rest)] }];
}

function groupByType(names: readonly string[]): readonly Selection[] {
  const groups = new Map<string, Set<string>>();
  for (const name of names) {
    const slash = name.indexOf("/");
    const [typeName, id] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
    if (slash <= 0 || id === "") throw usageError(`TYPE/ID was expected, got ${JSON.stringify(name)}`);
    groups.set(typeName, (groups.get(typeName) ?? new Set()).add(id));
  }
  return Array.from(groups, ([typeName, ids]) => ({ typeName, ids: [...ids] }));
}

/** Exactly one resource. @throws {CliError} usage */
export function parseOneSelection(args: readonly string[]): Selection & { readonly id: string } {
  const selections = parseSelections(args);
  const [selection] = selections;
  const [id] = selection?.ids ?? [];
  if (selection === undefined || id === undefined || selections.length > 1 || selection.ids.length > 1) {
    throw usageError("exactly one resource has to be named: TYPE ID or TYPE/ID");
  }
  return { ...selection, id };
}

/** Narrows a selection down to resources; the same options for every command. */
export interface SelectionOptions {
  readonly namespace?: string | undefined;
  readonly allNamespaces?: boolean | undefined;
  /** Label selector. */
  readonly selector?: string | undefined;
}

/** A selection with its type found. */
export interface Selected {
  readonly kind: NamedKind;
  readonly ids: readonly string[];
  readonly namespaces: readonly string[];
  readonly labels: LabelQuery | undefined;
}

/** @throws {CliError} usage, not found; {@link StateError} `invalid` for a selector that cannot be read. */
export async function resolveSelection(
  state: State,
  catalog: KindCatalog,
  selection: Selection,
  options: SelectionOptions,
  signal: AbortSignal,
): Promise<Selected> {
  const { namespace, allNamespaces = false, selector } = options;
  if (selection.ids.length > 0 && selector !== undefined) throw usageError("-l and ids exclude each other");
  if (selection.ids.length > 0 && allNamespaces) throw usageError("-A and ids exclude each other");
  if (allNamespaces && namespace !== undefined) throw usageError("-A and -n exclude each other");
  const kind = catalog.find(selection.typeName);
  const labels = selector === undefined ? undefined : readSelector(selector);
  const namespaces = allNamespaces ? await namespacesOf(state, kind, signal) : [namespace ?? kind.defaultNamespace];
  return { kind, ids: selection.ids, namespaces, labels };
}

/** @throws {CliError} usage */
export function readSelector(selector: string): LabelQuery {
  try {
    return parseLabelSelector(selector);
  } catch (cause) {
    throw usageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The namespaces that are described, and the type's own. */
async function namespacesOf(state: State, kind: NamedKind, signal: AbortSignal): Promise<readonly string[]> {
  const described = await state.list({ namespace: NamespaceType.namespace, type: NamespaceType.type }, { signal });
  return [...new Set([...described.map(({ metadata }) => metadata.id), kind.defaultNamespace])].toSorted();
}

export const kindIn = ({ type }: NamedKind, namespace: string): Kind => ({ namespace, type });
export const pointerIn = ({ type }: NamedKind, namespace: string, id: string): Pointer => ({ namespace, type, id });
