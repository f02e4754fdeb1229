import { onOneLine } from "../../../internal/visible-text.ts";
import { EngineExplanation, explanationId, type EngineExplanationSpec } from "../../../plane/index.ts";
import { isNotFound, type Pointer } from "../../../resource/index.ts";
import type { State } from "../../../state/index.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { checkActOn, selectedPointers, type ActOnOptions } from "../../args/selected-pointers.ts";
import { parseSelections } from "../../args/selection.ts";
import { notFoundError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { formatAge } from "../../print/age.ts";
import { nameOf } from "../../print/printer.ts";
import { forEachPointer } from "../write/for-each-pointer.ts";

export interface ExplainOptions extends ActOnOptions {
  /** `TYPE ID…` or `TYPE/ID…`. */
  readonly names: readonly string[];
  readonly output: "text" | "json";
}

/** Shows why resources are not as they should be: the chain of what holds them up, and what a person may do. */
export async function explain(context: WriteContext, options: ExplainOptions): Promise<ExitCode> {
  const { state, stdout, signal, clock } = context;
  const selections = parseSelections(options.names);
  checkActOn(selections, options);
  const catalog = await loadKinds(state, signal);
  const pointers = await selectedPointers(state, catalog, selections, options, signal);
  let isFirst = true;
  return forEachPointer(context, pointers, async (pointer) => {
    const spec = await explanationOf(state, pointer, signal);
    const text =
      options.output === "json" ? `${JSON.stringify(spec, null, 2)}\n` : describe(pointer, spec, clock.now());
    await stdout.write(isFirst || options.output === "json" ? text : `\n${text}`);
    isFirst = false;
  });
}

async function explanationOf(state: State, { type, namespace, id }: Pointer, signal: AbortSignal) {
  try {
    const { spec } = await state.get(EngineExplanation, explanationId(type, namespace, id), { signal });
    return spec as EngineExplanationSpec;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw notFoundError(
      "the server runs no engine that could explain it: homeostat run does, homeostat serve does not",
    );
  }
}

function describe(pointer: Pointer, spec: EngineExplanationSpec, nowMs: number): string {
  const { exists, phase, reasons, steps, actions } = spec;
  const lines = [`${nameOf(pointer)}: ${exists ? phase : "does not exist"}`];
  for (const [at, { what, since, retryAt }] of steps.entries()) {
    const times = [
      ...(since === undefined ? [] : [`for ${formatAge(since, nowMs)}`]),
      ...(retryAt === undefined ? [] : [`again ${inTime(retryAt, nowMs)}`]),
    ];
    lines.push(`  ${at + 1}. ${what}${times.length > 0 ? ` (${times.join(", ")})` : ""}`);
  }
  if (steps.length === 0) lines.push(...reasons.map((reason) => `  ${reason}`));
  if (steps.length === 0 && reasons.length === 0) lines.push("  nothing is in its way, as far as the engine knows");
  if (actions.length > 0) lines.push("What can be done:", ...actions.map((action) => `  - ${action}`));
  return `${lines.map(onOneLine).join("\n")}\n`;
}

function inTime(timestamp: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(timestamp) - nowMs) / 1000);
  return seconds > 0 ? `in ${seconds}s` : "now";
}
