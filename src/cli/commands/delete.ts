import { onOneLine } from "../../internal/visible-text.ts";
import { isNotFound, type Pointer } from "../../resource/index.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { WriteContext } from "../command-context.ts";
import { ExitCode } from "../exit-code.ts";
import { forEachSelected } from "./for-each-selected.ts";
import { loadKinds } from "../args/kind-catalog.ts";
import { nameOf } from "../print/printer.ts";
import { parseSelections, type Selection, type SelectionOptions } from "../args/selection.ts";

export interface DeleteOptions extends SelectionOptions {
  readonly names: readonly string[];
  /** Every resource of the type. Default: false. */
  readonly all?: boolean | undefined;
  /** Wait until the finalizers are gone. Default: true. */
  readonly wait?: boolean | undefined;
  /** Default: false. */
  readonly ignoreNotFound?: boolean | undefined;
  /** Default: none. */
  readonly owner?: string | undefined;
  /** Time for everything together. Unit: milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** After this time the user learns what a deletion waits for. */
const SILENT_WAIT_MS = 1_000;

/** Tears resources down and destroys them once nothing holds them any more. */
export async function deleteResources(context: WriteContext, options: DeleteOptions): Promise<ExitCode> {
  const selections = parseSelections(options.names);
  checkSelections(selections, options);
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return deleteSelections(context, selections, options);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    return await deleteSelections({ ...context, signal }, selections, options);
  } catch (cause) {
    if (context.signal.aborted || !timeout.aborted) throw cause;
    throw new CliError(ExitCode.unavailable, `not everything was deleted within ${timeoutMs} ms`, { cause });
  }
}

async function deleteSelections(
  context: WriteContext,
  selections: readonly Selection[],
  options: DeleteOptions,
): Promise<ExitCode> {
  const catalog = await loadKinds(context.state, context.signal);
  return forEachSelected(context, catalog, selections, options, (pointer) => deleteOne(context, pointer, options));
}

function checkSelections(selections: readonly Selection[], { all = false, selector }: DeleteOptions): void {
  for (const { ids } of selections) {
    if (ids.length > 0 && all) throw usageError("--all and ids exclude each other");
    if (ids.length === 0 && !all && selector === undefined) throw usageError("an id, -l or --all is needed");
  }
}

async function deleteOne(context: WriteContext, pointer: Pointer, options: DeleteOptions): Promise<void> {
  const { state, stdout, signal } = context;
  const { owner, wait = true, ignoreNotFound = false } = options;
  try {
    if (wait) {
      const note = notePatience(context, pointer);
      try {
        await state.teardownAndDestroy(pointer, { owner, signal });
      } finally {
        await note.stop();
      }
    } else if (await state.teardown(pointer, { owner, signal })) {
      await state.destroy(pointer, { owner, signal });
    } else {
      await stdout.write(`${nameOf(pointer)} tearing down\n`);
      return;
    }
  } catch (error) {
    if (!ignoreNotFound || !isNotFound(error)) throw error;
    return;
  }
  await stdout.write(`${nameOf(pointer)} deleted\n`);
}

/** Tells, once, what holds a resource that does not go at once. */
function notePatience({ state, stderr, signal }: WriteContext, pointer: Pointer): { stop: () => Promise<void> } {
  let telling: Promise<void> = Promise.resolve();
  const tell = async (): Promise<void> => {
    const resource = await state.getOrNull(pointer, { signal });
    const holders = resource?.metadata.finalizers.map(onOneLine).join(", ");
    if (holders) await stderr.write(`homeostat: ${nameOf(pointer)} is held by ${holders}; waiting\n`);
  };
  const timer = setTimeout(() => {
    telling = tell().catch(() => undefined); // A note that cannot be written is no reason to fail; the deletion tells.
  }, SILENT_WAIT_MS);
  return {
    stop: () => {
      clearTimeout(timer);
      return telling;
    },
  };
}
