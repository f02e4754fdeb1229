import { formatPointer, isTombstone, type Pointer, type Resource } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { checkActOn, selectedPointers, type ActOnOptions } from "../../args/selected-pointers.ts";
import { parseSelections } from "../../args/selection.ts";
import { CliError, notFoundError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { DeadlineExceeded, formatDuration, withDeadline } from "../../deadline.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf, reportFailure } from "../../failure.ts";
import { nameOf } from "../../print/printer.ts";
import { parseWaitCondition, type WaitCondition } from "./wait-condition.ts";

export interface WaitOptions extends ActOnOptions {
  readonly names: readonly string[];
  /** The condition, as `--for` has it. */
  readonly for: string;
  /** Time for everything together. Unit: milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Waits until each of the resources meets a condition, all at once. What is selected by label or `--all` is what is there
 * at the start.
 */
export async function wait(context: WriteContext, options: WaitOptions): Promise<ExitCode> {
  const selections = parseSelections(options.names);
  checkActOn(selections, options);
  const condition = await parseWaitCondition(options.for);
  const catalog = await loadKinds(context.state, context.signal);
  const pointers = await selectedPointers(context.state, catalog, selections, options, context.signal);
  if (pointers.length === 0) throw notFoundError("no resource is selected: there is nothing to wait for");
  const waits = pointers.map((pointer) => waitForOne(context, pointer, condition, options.timeoutMs));
  await Promise.allSettled(waits);
  return (await Promise.all(waits)).find((code) => code !== ExitCode.ok) ?? ExitCode.ok;
}

async function waitForOne(
  context: WriteContext,
  pointer: Pointer,
  condition: WaitCondition,
  timeoutMs: number | undefined,
): Promise<ExitCode> {
  const wait = new Wait(pointer, condition);
  try {
    await withDeadline(context, timeoutMs, (signal) => wait.run({ ...context, signal }));
    await context.stdout.write(`${nameOf(pointer)} condition met\n`);
    return ExitCode.ok;
  } catch (error) {
    const failure = error instanceof DeadlineExceeded ? await wait.timedOut(timeoutMs ?? 0, error) : error;
    if (context.signal.aborted || exitCodeOf(failure) === ExitCode.unavailable) throw failure;
    await reportFailure(context.stderr, failure);
    return exitCodeOf(failure);
  }
}

/** The wait for one resource. */
class Wait {
  readonly #pointer: Pointer;
  readonly #condition: WaitCondition;
  /** As it was seen last; undefined when it was not there. */
  #seen: Resource | undefined;

  constructor(pointer: Pointer, condition: WaitCondition) {
    this.#pointer = pointer;
    this.#condition = condition;
  }

  /** Resolves when the condition is met. @throws {CliError} not found, when it cannot be met any more. */
  async run({ state, signal }: Pick<WriteContext, "state" | "signal">): Promise<void> {
    await using watch = await state.watch(this.#pointer, { signal });
    for await (const event of watch) {
      if (event.type === EventType.errored) throw event.error;
      if (event.type === EventType.created || event.type === EventType.updated) {
        if (await this.#isMet(event.resource)) return;
      } else if (event.type === EventType.destroyed) {
        if (this.#isMetByAbsence()) return;
      }
    }
    signal.throwIfAborted();
    throw new CliError(ExitCode.unavailable, "the watch ended");
  }

  async #isMet(resource: Resource): Promise<boolean> {
    const last = this.#seen;
    this.#seen = resource;
    // Another resource has taken its place: the one that was waited for is gone.
    const isReplaced = last !== undefined && last.metadata.created !== resource.metadata.created;
    if (this.#condition.kind === "deleted") return isReplaced;
    return !isTombstone(resource) && this.#condition.isMet(resource);
  }

  #isMetByAbsence(): boolean {
    if (this.#condition.kind === "deleted") return true;
    if (this.#condition.kind === "created") return false;
    const what = this.#seen === undefined ? "does not exist" : "was destroyed";
    throw notFoundError(`${formatPointer(this.#pointer)} ${what}, and cannot meet ${this.#condition.text}`);
  }

  async timedOut(timeoutMs: number, cause: DeadlineExceeded): Promise<CliError> {
    const present = this.#seen === undefined ? "it does not exist" : await this.#condition.present(this.#seen);
    const message = `${nameOf(this.#pointer)}: ${this.#condition.text} was not met within ${formatDuration(timeoutMs)}`;
    return new CliError(ExitCode.timedOut, present === "" ? message : `${message}; ${present}`, { cause });
  }
}
