import { isConflict, Phase, type AnyResourceType, type Resource } from "../../resource/index.ts";
import { Failures } from "./failures.ts";
import { holdInput, releaseInput } from "./hold-input.ts";
import { removeOutput } from "./remove-output.ts";
import { outputIdOf, type AnyControllerState, type ReadyContext } from "./transform-context.ts";
import { holdsInputs, type TransformDefinition } from "./transform-definition.ts";

/** An input whose finalizer goes when its output is gone. */
interface Releasable {
  readonly input: Resource;
  readonly outputId: string;
}

/** One look at all inputs and outputs of a `transform`. */
export class TransformCycle {
  readonly #definition: TransformDefinition;
  readonly #context: ReadyContext<AnyControllerState>;
  readonly #state: AnyControllerState;
  readonly #isUncached: boolean;
  readonly #failures = new Failures();
  /** Ids of outputs that are wanted. */
  readonly #wanted = new Set<string>();
  /** Ids of outputs that are still there. */
  readonly #present = new Set<string>();
  readonly #releasable: Releasable[] = [];

  /** @param isUncached - Outputs are listed past the cache. */
  constructor(definition: TransformDefinition, context: ReadyContext<AnyControllerState>, isUncached: boolean) {
    this.#definition = definition;
    this.#context = context;
    this.#state = context.state;
    this.#isUncached = isUncached;
  }

  /** @throws what `list` or a hook threw at once; failures of single resources at the end, together. */
  async run(): Promise<void> {
    const { input, output, query = {} } = this.#definition;
    const { signal } = this.#context;
    for (const resource of await this.#state.list(input, query)) {
      signal.throwIfAborted();
      await this.#guarded(resource, () => this.#process(resource));
    }
    const outputs = this.#isUncached ? this.#state.listUncached(output) : this.#state.list(output);
    for (const resource of await outputs) {
      signal.throwIfAborted();
      await this.#clean(resource);
    }
    for (const { input: held, outputId } of this.#releasable) {
      if (!this.#present.has(outputId))
        await this.#guarded(held, () => releaseInput(this.#state, held, this.#definition.name));
    }
    await this.#definition.afterCycle?.(this.#context as ReadyContext<never>);
    this.#failures.throwIfAny();
  }

  async #guarded(resource: Resource, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failures.add(resource.metadata, error);
    }
  }

  async #process(input: Resource): Promise<void> {
    const { ignoreTeardown = false } = this.#definition;
    const outputId = outputIdOf(this.#definition, input);
    if (outputId === undefined) return;
    if (input.metadata.phase === Phase.running || ignoreTeardown) {
      this.#wanted.add(outputId);
      await this.#keep(input, outputId);
    } else if (holdsInputs(this.#definition)) {
      await this.#finalize(input, outputId);
    }
  }

  async #keep(input: Resource, outputId: string): Promise<void> {
    const { name, output } = this.#definition;
    if (holdsInputs(this.#definition) && !(await holdInput(this.#state, input, name))) return;
    try {
      await this.#state.modify(output as AnyResourceType, outputId, (draft, metadata) =>
        this.#definition.transform({ ...this.#context, input, draft, metadata } as never),
      );
    } catch (error) {
      // It belongs to somebody else, or an earlier one is on its way out: its end wakes this controller.
      if (!isConflict(error, { namespace: output.namespace, type: output.type })) throw error;
    }
  }

  async #finalize(input: Resource, outputId: string): Promise<void> {
    if (!input.metadata.finalizers.includes(this.#definition.name)) return;
    try {
      await this.#definition.finalize?.({ ...this.#context, input } as never);
    } catch (error) {
      this.#wanted.add(outputId);
      throw error;
    }
    this.#releasable.push({ input, outputId });
  }

  async #clean(output: Resource): Promise<void> {
    const { metadata } = output;
    const isOurs = metadata.owner === this.#definition.name;
    if (!isOurs || (metadata.phase === Phase.running && this.#wanted.has(metadata.id))) {
      this.#present.add(metadata.id);
      return;
    }
    try {
      if (!(await removeOutput(this.#state, metadata))) this.#present.add(metadata.id);
    } catch (error) {
      this.#present.add(metadata.id);
      this.#failures.add(metadata, error);
    }
  }
}
