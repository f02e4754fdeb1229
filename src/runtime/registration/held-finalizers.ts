import type { Logger } from "../../log/index.ts";
import { formatPointer, isNotFound, type Pointer, type Resource } from "../../resource/index.ts";
import type { CoreState } from "../../state/index.ts";
import type { DeclaredInput } from "../declared-input.ts";

/** A finalizer that a controller left on a resource when it was unregistered: the resource cannot go until it is removed. */
export interface HeldFinalizer {
  readonly pointer: Pointer;
  readonly finalizer: string;
}

/** The finalizers of these names on what the inputs gave a right to. */
export async function findHeldFinalizers(
  core: CoreState,
  inputs: readonly DeclaredInput[],
  names: ReadonlySet<string>,
): Promise<readonly HeldFinalizer[]> {
  const held: HeldFinalizer[] = [];
  for (const input of inputs) {
    if (input.kind !== "strong" && input.kind !== "primary" && input.kind !== "mapped") continue;
    for (const { metadata } of await read(core, input)) {
      const { namespace, type, id } = metadata;
      for (const finalizer of metadata.finalizers) {
        if (names.has(finalizer)) held.push({ pointer: { namespace, type, id }, finalizer });
      }
    }
  }
  return held;
}

/** Names the first of them, and how many there are. */
export function warnOfHeldFinalizers(log: Logger, controller: string, held: readonly HeldFinalizer[]): void {
  if (held.length === 0) return;
  const first = held.slice(0, 10).map(({ pointer, finalizer }) => `${finalizer} on ${formatPointer(pointer)}`);
  log.warn("an unregistered controller leaves finalizers behind", { controller, count: held.length, first });
}

async function read(core: CoreState, { namespace, type, id }: DeclaredInput): Promise<readonly Resource[]> {
  if (id === undefined) return core.list({ namespace, type });
  try {
    return [await core.get({ namespace, type, id })];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
