import type { Metadata } from "../../../resource/index.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { parseSelections } from "../../args/selection.ts";
import { selectedPointers } from "../../args/selected-pointers.ts";
import { notFoundError, usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { nameOf } from "../../print/printer.ts";

/** Annotation that says who took finalizers off by hand, and why. */
const RELEASED_ANNOTATION = "homeostat/released-finalizers";

export interface ReleaseFinalizerOptions {
  readonly type: string;
  readonly id: string;
  readonly finalizer: string;
  readonly reason: string;
  readonly namespace?: string | undefined;
}

/** Takes a finalizer off a resource by hand, and notes why on the resource: what it guarded is left as it is. */
export async function releaseFinalizer(context: WriteContext, options: ReleaseFinalizerOptions): Promise<ExitCode> {
  const { state, stdout, signal, clock } = context;
  const { finalizer, reason } = options;
  if (reason.trim() === "") throw usageError("--reason must say why: it is noted on the resource");
  const catalog = await loadKinds(state, signal);
  const [pointer] = await selectedPointers(
    state,
    catalog,
    parseSelections([options.type, options.id]),
    options,
    signal,
  );
  if (pointer === undefined) throw notFoundError(`there is no ${options.type} ${options.id}`);
  const { metadata } = await state.get(pointer, { signal });
  checkHeld(metadata, finalizer);
  await state.updateWithConflicts(
    pointer,
    (_, draft) => {
      draft.removeFinalizer(finalizer);
      const note = `${new Date(clock.now()).toISOString()} ${finalizer}: ${reason}`;
      const before = draft.annotations[RELEASED_ANNOTATION];
      draft.annotations[RELEASED_ANNOTATION] = before === undefined ? note : `${before}\n${note}`;
    },
    { owner: metadata.owner, expectedPhase: "any", signal },
  );
  await stdout.write(`${nameOf(pointer)} is no longer held by ${finalizer}\n`);
  return ExitCode.ok;
}

function checkHeld(metadata: Metadata, finalizer: string): void {
  if (metadata.finalizers.includes(finalizer)) return;
  const others = metadata.finalizers.length === 0 ? "it has none" : `it has ${metadata.finalizers.join(", ")}`;
  throw notFoundError(`${nameOf(metadata)} has no finalizer ${JSON.stringify(finalizer)}; ${others}`);
}
