import type { AnyResourceType } from "../../resource/index.ts";
import type { ClassicInput, Controller, RunContext } from "../controller.ts";
import type { HowToDeclare, OutputHint } from "../hints.ts";
import { destroyReady, strong, weak } from "../input.ts";
import { exclusive, shared, type Output } from "../output.ts";
import { checkDefinition, type ReadyContext } from "./transform-context.ts";
import { TransformCycle } from "./transform-cycle.ts";
import { holdsInputs, type TransformDefinition } from "./transform-definition.ts";
import { Wakers } from "./wakers.ts";

/**
 * A classic controller that makes one output of each input, and keeps it so: created, changed, and removed with its input.
 *
 * ```ts
 * const intToStr = transform({
 *   name: "IntToStrController",
 *   input: Int,
 *   output: Str,
 *   transform: ({ input }) => ({ value: String(input.spec.value) }),
 * });
 * ```
 *
 * Each cycle looks at all inputs; `queueTransform` looks at those that changed. An output that somebody else owns is left
 * alone. In the namespaces of the two types.
 *
 * @throws {TypeError} when the definition lacks something, or asks for what excludes each other.
 */
export function transform<
  const In extends AnyResourceType,
  const Out extends AnyResourceType,
  const I extends readonly ClassicInput[] = readonly [],
  const O extends readonly (Output | OutputHint<HowToDeclare>)[] = readonly [],
>(definition: TransformDefinition<In, Out, I, O>): Controller {
  checkDefinition("transform", definition, ["transform"]);
  if (definition.ignoreTeardown === true && holdsInputs(definition)) {
    throw new TypeError(`transform ${definition.name}: finalize and ignoreTeardown exclude each other`);
  }
  const { name, input, output, inputs = [], outputs = [], outputKind = "exclusive" } = definition;
  const isSameKind = input.type === output.type && input.namespace === output.namespace;
  return {
    name,
    inputs: [
      holdsInputs(definition) ? strong(input) : weak(input),
      ...(isSameKind ? [] : [destroyReady(output)]),
      ...inputs,
    ],
    outputs: [outputKind === "shared" ? shared(output) : exclusive(output), ...outputs],
    run: (context) => run(definition as unknown as TransformDefinition, context as unknown as RunContext),
  };
}

async function run(definition: TransformDefinition, context: RunContext): Promise<void> {
  const { state, log, signal, clock, resetRestartBackoff } = context;
  const ready = { state, log, signal, clock } as ReadyContext<never>;
  // In this order: both run, and when both fail, the error holds both.
  await using _exit = { [Symbol.asyncDispose]: async () => definition.onExit?.(ready) };
  using wakers = new Wakers(definition.wakeups, context);
  // What a failed write of the last run came to is not known, so the first clean-up asks the state itself.
  let isFirst = true;
  for await (const _ of context.wakeups) {
    wakers.cycleBegins();
    await definition.beforeCycle?.(ready);
    await new TransformCycle(definition, ready, isFirst).run();
    isFirst = false;
    resetRestartBackoff();
  }
}
