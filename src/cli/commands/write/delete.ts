import { onOneLine } from "../../../internal/visible-text.ts";
import { isNotFound, type Metadata, type Pointer } from "../../../resource/index.ts";
import { readManifests } from "../../apply/read-manifests.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { checkActOn, selectedPointers, type ActOnOptions } from "../../args/selected-pointers.ts";
import { parseSelections } from "../../args/selection.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { DeadlineExceeded, formatDuration, withDeadline } from "../../deadline.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf, reportFailure } from "../../failure.ts";
import { nameOf } from "../../print/printer.ts";
import { forEachPointer } from "./for-each-pointer.ts";

export interface DeleteOptions extends ActOnOptions {
  /** `TYPE ID…` or `TYPE/ID…`; empty when manifests name what to delete. */
  readonly names: readonly string[];
  /** Manifests that name what to delete. Default: none. */
  readonly files?: readonly string[] | undefined;
  readonly recursive?: boolean | undefined;
  /** Wait until the finalizers are gone. Default: true. */
  readonly wait?: boolean | undefined;
  /** Default: false. */
  readonly ignoreNotFound?: boolean | undefined;
  /** Default: none. */
  readonly owner?: string | undefined;
  /** Time for everything together. Unit: milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** After this time the user learns what a deletion waits for. Unit: milliseconds. */
const SILENT_WAIT_MS = 1_000;

/** Tears resources down, all of them first, and destroys each once no finalizer holds it any more. */
export async function deleteResources(context: WriteContext, options: DeleteOptions): Promise<ExitCode> {
  const held = new Map<string, Metadata>();
  try {
    return await withDeadline(context, options.timeoutMs, (signal) => deleteAll({ ...context, signal }, options, held));
  } catch (error) {
    if (!(error instanceof DeadlineExceeded) || options.timeoutMs === undefined) throw error;
    throw await timedOut(context, [...held.values()], options.timeoutMs, error);
  }
}

async function deleteAll(
  context: WriteContext,
  options: DeleteOptions,
  held: Map<string, Metadata>,
): Promise<ExitCode> {
  const { pointers, exitCode } = await pointersOf(context, options);
  const torn = await forEachPointer(context, pointers, async (pointer) => {
    const metadata = await tearDown(context, pointer, options);
    if (metadata !== undefined) held.set(JSON.stringify(pointer), metadata);
  });
  const waits = [...held].map(async ([key, metadata]): Promise<ExitCode> => {
    try {
      await destroyHeld(context, metadata, options);
      held.delete(key);
      return ExitCode.ok;
    } catch (error) {
      if (context.signal.aborted || exitCodeOf(error) === ExitCode.unavailable) throw error;
      held.delete(key);
      await reportFailure(context.stderr, error);
      return exitCodeOf(error);
    }
  });
  const waited = (await allOrFirstFailure(waits)).find((code) => code !== ExitCode.ok);
  return exitCode || torn || (waited ?? ExitCode.ok);
}

/** Waits for all of them to end, and then throws what the first of them threw. */
async function allOrFirstFailure<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

async function pointersOf(
  context: WriteContext,
  options: DeleteOptions,
): Promise<{ readonly pointers: readonly Pointer[]; readonly exitCode: ExitCode }> {
  const { state, signal } = context;
  const { names, files = [] } = options;
  if (files.length > 0) {
    if (names.length > 0 || options.all === true || options.selector !== undefined) {
      throw usageError("-f names what to delete: types, ids, -l and --all exclude it");
    }
    const read = await readManifests(context, { ...options, files });
    const pointers = read.manifests.map(({ resource: { metadata } }) => {
      const { namespace, type, id } = metadata;
      return { namespace, type, id };
    });
    return { pointers, exitCode: read.hasMistakes ? ExitCode.failed : ExitCode.ok };
  }
  const selections = parseSelections(names);
  checkActOn(selections, options);
  const catalog = await loadKinds(state, signal);
  return { pointers: await selectedPointers(state, catalog, selections, options, signal), exitCode: ExitCode.ok };
}

/** Tears one down, and destroys it if nothing holds it. Resolves to its metadata when it is to be waited for. */
async function tearDown(
  context: WriteContext,
  pointer: Pointer,
  { owner, wait = true, ignoreNotFound = false }: DeleteOptions,
): Promise<Metadata | undefined> {
  const { state, stdout, signal } = context;
  try {
    const { metadata } = await state.get(pointer, { signal });
    if (await state.teardown(metadata, { owner, signal })) {
      await state.destroy(metadata, { owner, signal });
      await stdout.write(`${nameOf(pointer)} deleted\n`);
      return undefined;
    }
    if (wait) return metadata;
    await stdout.write(`${nameOf(pointer)} tearing down\n`);
  } catch (error) {
    if (!ignoreNotFound || !isNotFound(error)) throw error;
  }
  return undefined;
}

/** Waits until no finalizer holds a resource, and destroys it; somebody else may do so as well. */
async function destroyHeld(context: WriteContext, metadata: Metadata, { owner }: DeleteOptions): Promise<void> {
  const { state, stdout, signal } = context;
  const note = noteHolders(context, metadata);
  try {
    await state.teardownAndDestroy(metadata, { owner, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  } finally {
    await note.stop();
  }
  await stdout.write(`${nameOf(metadata)} deleted\n`);
}

async function holdersOf({ state, signal }: WriteContext, pointer: Pointer): Promise<string | undefined> {
  const resource = await state.getOrNull(pointer, { signal });
  return resource?.metadata.finalizers.map(onOneLine).join(", ");
}

/** Tells, once, what holds a resource that does not go at once. */
function noteHolders(context: WriteContext, pointer: Pointer): { stop: () => Promise<void> } {
  let telling: Promise<void> = Promise.resolve();
  const tell = async (): Promise<void> => {
    const holders = await holdersOf(context, pointer);
    if (holders) await context.stderr.write(`homeostat: ${nameOf(pointer)} is held by ${holders}; waiting\n`);
  };
  const timer = context.clock.schedule(SILENT_WAIT_MS, () => {
    telling = tell().catch(() => undefined); // A note that cannot be written is no reason to fail; the deletion tells.
  });
  return {
    stop: () => {
      timer.cancel();
      return telling;
    },
  };
}

/** What holds the resources that are left when the time is up. */
async function timedOut(
  context: WriteContext,
  left: readonly Metadata[],
  timeoutMs: number,
  cause: DeadlineExceeded,
): Promise<Error> {
  const time = formatDuration(timeoutMs);
  if (left.length === 0) return cause;
  const parts: string[] = [];
  for (const metadata of left) {
    const holders = await holdersOf(context, metadata);
    const reason = holders ? `is torn down and held by ${holders}` : "is torn down, and was not destroyed in time";
    parts.push(`${nameOf(metadata)} ${reason}`);
  }
  return new CliError(ExitCode.timedOut, `not deleted within ${time}: ${parts.join("; ")}`, { cause });
}
