import { onOneLine } from "../../../internal/visible-text.ts";
import { labelKeyMistake, matchesLabels, type LabelQuery, type Metadata } from "../../../resource/index.ts";
import { applyManifest, planManifest, type Applied, type ApplyManifestOptions } from "../../apply/apply-manifest.ts";
import { describeMistakes } from "../../apply/manifest-mistakes.ts";
import { findPrunable } from "../../apply/prune.ts";
import { readManifests, type ManifestOptions, type ReadManifest } from "../../apply/read-manifests.ts";
import { SpecWriter } from "../../apply/spec-writer.ts";
import type { KindCatalog } from "../../args/kind-catalog.ts";
import { readSelector } from "../../args/selection.ts";
import { usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf } from "../../failure.ts";
import { nameOf } from "../../print/printer.ts";
import { forEachPointer } from "./for-each-pointer.ts";

export interface ApplyOptions extends ManifestOptions {
  /** Write in the name of this owner. Default: none. */
  readonly owner?: string | undefined;
  /**
   * Only tell what would be done. `client`: by what is stored now; `server`: the State also judges each spec. Default:
   * write.
   */
  readonly dryRun?: string | undefined;
  /** Name of the set that the resources belong to. Default: none. */
  readonly set?: string | undefined;
  /** Only the manifests whose labels match. Default: all. */
  readonly selector?: string | undefined;
  /** Delete what was applied before, and is in no manifest now; needs a set or selector. Default: false. */
  readonly prune?: boolean | undefined;
}

/**
 * Creates or updates what manifests declare. Labels and annotations are added to those that are there; a spec takes the
 * place of the stored one. A mistake costs one resource, and the others are applied.
 */
export async function apply(context: WriteContext, options: ApplyOptions): Promise<ExitCode> {
  const labels = checkOptions(options);
  const { manifests, hasMistakes, catalog } = await readManifests(context, options);
  const run = new ApplyRun(context, options);
  const isChosen = ({ resource }: ReadManifest): boolean =>
    labels === undefined || matchesLabels(labels, resource.metadata.labels);
  for (const manifest of manifests.filter(isChosen)) await run.apply(manifest);
  const skipped = manifests.filter((one) => !isChosen(one)).length;
  if (skipped > 0) await context.stderr.write(`homeostat: ${skipped} manifests do not match the selector\n`);
  const isComplete = run.exitCode === ExitCode.ok && !hasMistakes;
  if (!isComplete) {
    if (options.prune === true)
      await context.stderr.write("homeostat: not everything was applied, so nothing is pruned\n");
    return ExitCode.failed;
  }
  const stay = manifests.map(({ resource }) => resource.metadata);
  return options.prune === true ? prune(context, catalog, options, labels, stay) : ExitCode.ok;
}

/** @throws {CliError} usage */
function checkOptions({ dryRun, set, selector, prune }: ApplyOptions): LabelQuery | undefined {
  if (dryRun !== undefined && dryRun !== "client" && dryRun !== "server") {
    throw usageError(`--dry-run is client or server, got ${JSON.stringify(dryRun)}`);
  }
  if (set !== undefined && labelKeyMistake(set) !== undefined) {
    throw usageError(`the name of a set consists of letters, digits and . _ / : @ + * ~ -, got ${JSON.stringify(set)}`);
  }
  const labels = selector === undefined ? undefined : readSelector(selector);
  if (prune === true && set === undefined && (labels ?? []).length === 0) {
    throw usageError("--prune needs --set NAME or -l SELECTOR: what else was applied before is not to be deleted");
  }
  return labels;
}

class ApplyRun {
  exitCode: ExitCode = ExitCode.ok;
  readonly #context: WriteContext;
  readonly #options: ApplyOptions;
  readonly #specs: SpecWriter;

  constructor(context: WriteContext, options: ApplyOptions) {
    this.#context = context;
    this.#options = options;
    this.#specs = new SpecWriter(context.state, context.signal);
  }

  async apply(manifest: ReadManifest): Promise<void> {
    const { signal, stdout, stderr } = this.#context;
    try {
      const done = await this.#outcome(manifest);
      await stdout.write(`${nameOf(manifest.resource.metadata)} ${done}${suffixOf(this.#options)}\n`);
    } catch (error) {
      if (signal.aborted || exitCodeOf(error) === ExitCode.unavailable) throw error;
      this.exitCode = ExitCode.failed;
      for (const message of describeMistakes(error, manifest.resource, manifest.manifests)) {
        await stderr.write(`${onOneLine(message)}\n`);
      }
    }
  }

  async #outcome({ resource, manifests }: ReadManifest): Promise<Applied> {
    const { namespace, owner, set, dryRun } = this.#options;
    const options: ApplyManifestOptions = {
      hasSpec: !manifests.withoutSpec.has(resource),
      namespace,
      owner,
      set,
      specs: this.#specs,
      signal: this.#context.signal,
    };
    if (dryRun === undefined) return applyManifest(this.#context.state, resource, options);
    const plan = await planManifest(this.#context.state, resource, options);
    if (dryRun === "server" && plan.setsSpec) await this.#specs.rehearse(plan, owner);
    return plan.outcome;
  }
}

const suffixOf = ({ dryRun }: ApplyOptions): string => (dryRun === undefined ? "" : ` (${dryRun} dry run)`);

async function prune(
  context: WriteContext,
  catalog: KindCatalog,
  options: ApplyOptions,
  labels: LabelQuery | undefined,
  applied: readonly Metadata[],
): Promise<ExitCode> {
  const { state, stdout, signal } = context;
  const { set, namespace, owner } = options;
  const found = await findPrunable(state, catalog, { applied, set, labels, namespace, owner, signal });
  if (found.length === 0) return ExitCode.ok;
  const pointers = found.map(({ metadata }) => metadata);
  return forEachPointer(context, pointers, async (pointer) => {
    let word = "pruned";
    if (options.dryRun === undefined) {
      const isReady = await state.teardown(pointer, { owner, signal });
      if (isReady) await state.destroy(pointer, { owner, signal });
      else word = "tearing down";
    }
    await stdout.write(`${nameOf(pointer)} ${word}${suffixOf(options)}\n`);
  });
}
