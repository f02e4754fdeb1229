import type { AnyResourceType, Resource } from "../../resource/index.ts";
import type { HowToDeclare, OutputHint } from "../hints.ts";
import { mappedDestroyReady, type MappedInput } from "../input.ts";
import { exclusive, shared, type Output } from "../output.ts";
import type { MapInputContext, QueueController } from "../queue-controller.ts";
import type { QueueTransformDefinition } from "./queue-transform-definition.ts";
import { QueueTransformRun } from "./queue-transform-run.ts";
import { checkDefinition } from "./transform-context.ts";

/**
 * A queue controller that makes one output of each input, and keeps it so. It holds each input by a finalizer until the
 * output is gone. One input that fails is tried again with a backoff of its own, and holds up no other.
 *
 * ```ts
 * const render = queueTransform({
 *   name: "RenderController",
 *   input: Template,
 *   output: Page,
 *   inputs: [mapped(Theme, byLabel(Template, "template"))],
 *   concurrency: 4,
 *   async transform({ input, state }) {
 *     const theme = await state.getOrNull(Theme, input.spec.theme);
 *     if (theme === undefined) throw new SkipError(`theme ${input.spec.theme} does not exist`);
 *     return { text: input.spec.text, colour: theme.spec.colour };
 *   },
 * });
 * ```
 *
 * An output that somebody else owns is left alone. In the namespaces of the two types, which must not be the same kind.
 *
 * @throws {TypeError} when the definition lacks something.
 */
export function queueTransform<
  const In extends AnyResourceType,
  const Out extends AnyResourceType,
  const I extends readonly MappedInput<AnyResourceType, "mapped" | "mappedDestroyReady", In["type"]>[] = readonly [],
  const O extends readonly (Output | OutputHint<HowToDeclare>)[] = readonly [],
>(definition: QueueTransformDefinition<In, Out, I, O>): QueueController {
  checkDefinition("queueTransform", definition, ["transform"]);
  const { name, input, output, inputs = [], outputs = [], outputKind = "exclusive", concurrency } = definition;
  if (definition.map !== undefined && definition.unmap === undefined) {
    throw new TypeError(`queueTransform ${name}: map needs an unmap, which leads from an output back to its input`);
  }
  const untyped = definition as unknown as QueueTransformDefinition;
  return {
    name,
    primary: input,
    inputs: [mappedDestroyReady(output), ...inputs],
    outputs: [outputKind === "shared" ? shared(output) : exclusive(output), ...outputs],
    concurrency,
    reconcile: (context) => new QueueTransformRun(untyped, context).run(),
    mapInput: (context) => mapInput(untyped, context),
  };
}

async function mapInput(definition: QueueTransformDefinition, context: MapInputContext): Promise<Iterable<never>> {
  const { input, output, unmap } = definition;
  const { input: changed, state } = context;
  if (changed.type === output.type && changed.namespace === output.namespace) {
    const resource: Resource | undefined = await state.getOrNull(output.ref(changed.id));
    if (resource === undefined) return [];
    return [input.ref(unmap === undefined ? changed.id : unmap(resource))] as never[];
  }
  if (definition.mapInput !== undefined) return (await definition.mapInput(context)) as Iterable<never>;
  throw new TypeError(`${definition.name}: the input ${changed.type} has no mapper, and there is no mapInput`);
}
