import { formatPointer, Phase, type AnyResourceType } from "../../resource/index.ts";
import type { ClassicInput, Controller, RunContext } from "../controller.ts";
import { strong } from "../input.ts";
import type { Output } from "../output.ts";
import type { CleanupHandler } from "./cleanup-handlers.ts";
import { Failures } from "./failures.ts";
import { holdInput, releaseInput } from "./hold-input.ts";
import { checkDefinition, type AnyControllerState, type ResourceOf } from "./transform-context.ts";

/** What a {@link cleanup} is made of. */
export interface CleanupDefinition<In extends AnyResourceType = AnyResourceType> {
  /** Unique in one runtime, and the finalizer on the inputs. */
  readonly name: string;
  /** Each resource of it is held until the handlers agree to its end. */
  readonly input: In;
  /** Asked in this order; the first that does not agree ends the round. At least one. */
  readonly handlers: readonly CleanupHandler<In>[];
}

/**
 * A classic controller that holds each input by a finalizer, and lets it go, once it is torn down, when what depends on it
 * is gone.
 *
 * ```ts
 * const clusterCleanup = cleanup({
 *   name: "ClusterCleanup",
 *   input: Cluster,
 *   handlers: [removeOutputs(Machine, (cluster) => ({ labels: [equal("cluster", cluster.metadata.id)] }))],
 * });
 * ```
 *
 * @throws {TypeError} without a handler, or when two handlers read the same kind in different ways.
 */
export function cleanup<const In extends AnyResourceType>(definition: CleanupDefinition<In>): Controller {
  checkDefinition("cleanup", definition, []);
  const { name, input, handlers } = definition;
  if (!Array.isArray(handlers) || handlers.length === 0) throw new TypeError(`cleanup ${name} needs a handler`);
  return {
    name,
    inputs: [strong(input), ...inputsOf(name, handlers)],
    outputs: outputsOf(handlers),
    run: (context) => run(definition as unknown as CleanupDefinition, context as unknown as RunContext),
  };
}

function inputsOf(name: string, handlers: readonly CleanupHandler<never>[]): readonly ClassicInput[] {
  const inputs = new Map<string, ClassicInput>();
  for (const input of handlers.flatMap((handler) => handler.inputs ?? [])) {
    const { namespace, type } = input.resource;
    const key = formatPointer({ namespace, type, id: input.id ?? "" });
    const known = inputs.get(key);
    if (known !== undefined && known.kind !== input.kind) {
      throw new TypeError(`cleanup ${name}: one handler reads ${type} as ${known.kind}, another as ${input.kind}`);
    }
    inputs.set(key, input);
  }
  return [...inputs.values()];
}

function outputsOf(handlers: readonly CleanupHandler<never>[]): readonly Output[] {
  const outputs = handlers.flatMap((handler) => handler.outputs ?? []);
  return [...new Map(outputs.map((output) => [output.resource.type, output])).values()];
}

async function run(definition: CleanupDefinition, { wakeups, resetRestartBackoff, ...context }: RunContext) {
  const state = context.state as AnyControllerState;
  const { name, input: type, handlers } = definition;
  const finalize = async (input: ResourceOf<AnyResourceType>): Promise<void> => {
    for (const handler of handlers) await handler.finalize({ ...context, state, input });
    await releaseInput(state, input, name);
  };
  for await (const _ of wakeups) {
    const failures = new Failures();
    for (const input of await state.list(type)) {
      context.signal.throwIfAborted();
      const isRunning = input.metadata.phase === Phase.running;
      try {
        if (isRunning) await holdInput(state, input, name);
        else if (input.metadata.finalizers.includes(name)) await finalize(input);
      } catch (error) {
        failures.add(input.metadata, error);
      }
    }
    failures.throwIfAny();
    resetRestartBackoff();
  }
}
