import type { Pointer } from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { usageError } from "../cli-error.ts";
import type { KindCatalog } from "./kind-catalog.ts";
import { kindIn, pointerIn, resolveSelection, type Selection, type SelectionOptions } from "./selection.ts";

/** Selects for commands that act: all resources of a type only when asked for. */
export interface ActOnOptions extends SelectionOptions {
  /** Every resource of the type. Default: false. */
  readonly all?: boolean | undefined;
}

/** Nothing is acted on by accident. @throws {CliError} usage */
export function checkActOn(selections: readonly Selection[], { all = false, selector }: ActOnOptions): void {
  for (const { ids } of selections) {
    if (ids.length > 0 && all) throw usageError("--all and ids exclude each other");
    if (ids.length === 0 && !all && selector === undefined) throw usageError("an id, -l or --all is needed");
  }
}

/** The addresses of what is selected: ids as they are given, the others as they are found. */
export async function selectedPointers(
  state: State,
  catalog: KindCatalog,
  selections: readonly Selection[],
  options: SelectionOptions,
  signal: AbortSignal,
): Promise<readonly Pointer[]> {
  const pointers: Pointer[] = [];
  for (const selection of selections) {
    const { kind, ids, namespaces, labels } = await resolveSelection(state, catalog, selection, options, signal);
    for (const namespace of namespaces) {
      if (ids.length > 0) pointers.push(...ids.map((id) => pointerIn(kind, namespace, id)));
      else {
        const found = await state.list(kindIn(kind, namespace), { labels, signal });
        pointers.push(...found.map(({ metadata }) => pointerIn(kind, namespace, metadata.id)));
      }
    }
  }
  return pointers;
}
