import { isConflict, isNotFound, Phase, type AnyResourceType, type Resource } from "../../resource/index.ts";
import { findRequeue, requeueAfter, type ReconcileResult, type RequeueError } from "../outcome.ts";
import type { QueueReconcileContext } from "../queue-controller.ts";
import { findDestroyOutput } from "./destroy-output-error.ts";
import type { QueueTransformDefinition } from "./queue-transform-definition.ts";
import { holdInput, releaseInput } from "./hold-input.ts";
import { removeOutput } from "./remove-output.ts";
import { outputIdOf, type AnyControllerState } from "./transform-context.ts";

/** One look at one input of a `queueTransform`. */
export class QueueTransformRun {
  readonly #definition: QueueTransformDefinition;
  readonly #context: QueueReconcileContext;
  readonly #state: AnyControllerState;
  /** What the last attempt of `transform` asked for. */
  #requeue: RequeueError | undefined;

  constructor(definition: QueueTransformDefinition, context: QueueReconcileContext) {
    this.#definition = definition;
    this.#context = context;
    this.#state = context.state;
  }

  async run(): Promise<ReconcileResult> {
    const input: Resource | undefined = await this.#state.getOrNull(this.#context.ref);
    if (input === undefined) return undefined;
    const outputId = outputIdOf(this.#definition, input);
    if (outputId === undefined) return undefined;
    if (input.metadata.phase === Phase.running || this.#ignoresTeardown(input)) return this.#keep(input, outputId);
    return this.#finalize(input, outputId);
  }

  #ignoresTeardown({ metadata }: Resource): boolean {
    const { name, ignoreTeardownUntil: until, ignoreTeardownWhile = [] } = this.#definition;
    const others = metadata.finalizers.filter((finalizer) => finalizer !== name);
    return (
      (until !== undefined && others.some((finalizer) => !until.includes(finalizer))) ||
      others.some((finalizer) => ignoreTeardownWhile.includes(finalizer))
    );
  }

  async #keep(input: Resource, outputId: string): Promise<ReconcileResult> {
    const { name, output } = this.#definition;
    const isRunning = input.metadata.phase === Phase.running;
    if (isRunning && !(await holdInput(this.#state, input, name))) return undefined;
    const present: Resource | undefined = await this.#state.getOrNull(output.ref(outputId));
    if (present?.metadata.phase === Phase.tearingDown && !(await this.#destroyed(present))) return undefined;
    try {
      await this.#state.modify(output as AnyResourceType, outputId, (draft, metadata) =>
        this.#transform(input, present === undefined, draft, metadata),
      );
    } catch (error) {
      if (findDestroyOutput(error) !== undefined) return this.#remove(outputId);
      if (error instanceof NothingToWrite) return requeueAfter(error.afterMs);
      if (isConflict(error, { namespace: output.namespace, type: output.type })) return undefined;
      throw error;
    }
    return this.#requeue && requeueAfter(this.#requeue.afterMs);
  }

  /** An earlier output on its way out. When something holds it, or it is somebody else's, its end wakes this controller. */
  async #destroyed({ metadata }: Resource): Promise<boolean> {
    if (metadata.finalizers.length > 0) return false;
    try {
      await this.#state.destroy(metadata);
    } catch (error) {
      if (isConflict(error)) return false;
      if (!isNotFound(error)) throw error;
    }
    return true;
  }

  async #transform(input: Resource, isNew: boolean, draft: object, metadata: unknown): Promise<unknown> {
    this.#requeue = undefined;
    try {
      return await this.#definition.transform({ ...this.#context, input, draft, metadata } as never);
    } catch (error) {
      const requeue = findRequeue(error);
      if (requeue === undefined || requeue.cause !== undefined) throw error;
      if (isNew && Object.keys(draft).length === 0) throw new NothingToWrite(requeue.afterMs);
      this.#requeue = requeue;
      return undefined;
    }
  }

  async #remove(outputId: string): Promise<undefined> {
    await removeOutput(this.#state, this.#definition.output.ref(outputId));
  }

  async #finalize(input: Resource, outputId: string): Promise<undefined> {
    const { name, output } = this.#definition;
    await this.#definition.finalize?.({ ...this.#context, input } as never);
    if (await removeOutput(this.#state, output.ref(outputId))) await releaseInput(this.#state, input, name);
  }
}

/** Leaves `modify` without writing. */
class NothingToWrite extends Error {
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("the transform wants to run again, and filled nothing of the new output yet");
    this.afterMs = afterMs;
  }
}
