import type { Pointer } from "../../resource/index.ts";
import type { WriteContext } from "../command-context.ts";
import { ExitCode } from "../exit-code.ts";
import { exitCodeOf, reportFailure } from "../failure.ts";
import type { KindCatalog } from "../args/kind-catalog.ts";
import { kindIn, pointerIn, resolveSelection, type Selection, type SelectionOptions } from "../args/selection.ts";

/**
 * Does the same to each selected resource, one after the other. What fails is reported, and the others get their turn;
 * an endpoint that cannot be reached ends the work.
 *
 * @returns the code of the first failure.
 */
export async function forEachSelected(
  { state, stderr, signal }: WriteContext,
  catalog: KindCatalog,
  selections: readonly Selection[],
  options: SelectionOptions,
  work: (pointer: Pointer) => Promise<void>,
): Promise<ExitCode> {
  let exitCode: ExitCode = ExitCode.ok;
  let count = 0;
  for (const selection of selections) {
    const { kind, ids, namespaces, labels } = await resolveSelection(state, catalog, selection, options, signal);
    for (const namespace of namespaces) {
      const found =
        ids.length > 0
          ? ids
          : (await state.list(kindIn(kind, namespace), { labels, signal })).map(({ metadata }) => metadata.id);
      for (const id of found) {
        count++;
        try {
          await work(pointerIn(kind, namespace, id));
        } catch (error) {
          const code = exitCodeOf(error);
          if (signal.aborted || code === ExitCode.unavailable) throw error;
          exitCode ||= code;
          await reportFailure(stderr, error);
        }
      }
    }
  }
  if (count === 0) await stderr.write("homeostat: no resource is concerned\n");
  return exitCode;
}
