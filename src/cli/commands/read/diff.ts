import { styleText } from "node:util";
import { onOneLine } from "../../../internal/visible-text.ts";
import { createResource, withMetadata, type Dictionary, type Metadata } from "../../../resource/index.ts";
import { APPLIED_ANNOTATION } from "../../apply/applied-mark.ts";
import { planManifest, type Plan } from "../../apply/apply-manifest.ts";
import { describeMistakes } from "../../apply/manifest-mistakes.ts";
import { readManifests, type ManifestOptions } from "../../apply/read-manifests.ts";
import { SpecWriter } from "../../apply/spec-writer.ts";
import { undescribedKind, type NamedKind } from "../../args/named-kind.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf } from "../../failure.ts";
import { writeForeign } from "../../output.ts";
import { nameOf } from "../../print/printer.ts";
import { readableSpec } from "../../print/readable-value.ts";
import { formatShown } from "../../print/yaml-printer.ts";

export interface DiffOptions extends ManifestOptions {
  /** Default: none. */
  readonly owner?: string | undefined;
  /** Default: false. */
  readonly showSensitive?: boolean | undefined;
}

/** Lines around a change. */
const CONTEXT_LINES = 3;

/**
 * Shows what applying manifests would change, as a unified diff of YAML.
 *
 * @returns 0 when nothing would, 1 when something would; 2 and more for a failure, as `diff` does.
 */
export async function diff(context: WriteContext, options: DiffOptions): Promise<ExitCode> {
  const { state, signal, stderr } = context;
  const { manifests: read, hasMistakes, catalog } = await readManifests(context, options);
  const kinds = new Map(catalog.kinds.map((kind) => [kind.type, kind]));
  const specs = new SpecWriter(state, signal);
  const { namespace, owner, showSensitive = false } = options;
  let failure: ExitCode = hasMistakes ? ExitCode.usage : ExitCode.ok;
  let differs = false;
  for (const { resource, manifests } of read) {
    const hasSpec = !manifests.withoutSpec.has(resource);
    try {
      const plan = await planManifest(state, resource, { hasSpec, namespace, owner, set: undefined, specs, signal });
      if (plan.outcome === "unchanged") continue;
      differs = true;
      const kind = kinds.get(resource.metadata.type) ?? undescribedKind(resource.metadata.type);
      await writeForeign(context.stdout, color(await formatPlan(plan, kind, showSensitive), context.color));
    } catch (error) {
      if (signal.aborted || exitCodeOf(error) === ExitCode.unavailable) throw error;
      failure ||= atLeastUsage(exitCodeOf(error));
      for (const message of describeMistakes(error, resource, manifests)) await stderr.write(`${onOneLine(message)}\n`);
    }
  }
  return failure || (differs ? ExitCode.failed : ExitCode.ok);
}

/** 1 says that there are differences, so that a failure has to be more. */
const atLeastUsage = (code: ExitCode): ExitCode => (code === ExitCode.failed ? ExitCode.usage : code);

async function formatPlan(plan: Plan, kind: NamedKind, showSensitive: boolean): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const show = (metadata: Metadata, spec: unknown): Promise<string> =>
    formatShown({ node: undefined, kind, resource: createResource(shownMetadata(metadata), spec) }, { showSensitive });
  const before = plan.stored === undefined ? "" : await show(plan.stored.metadata, await readableSpec(plan.stored));
  const after = await show(plan.metadata, plan.spec);
  const isHidden = kind.isSensitive && !showSensitive && plan.setsSpec && plan.stored !== undefined;
  const name = nameOf(plan.metadata);
  const patch = createTwoFilesPatch(`${name} (stored)`, `${name} (applied)`, before, after, "", "", {
    context: CONTEXT_LINES,
  });
  return `${patch.replace(/^=+\n/, "")}${isHidden ? `# the spec of ${name} differs; --show-sensitive shows it\n` : ""}`;
}

/** The mark of `apply` means nothing to people. */
function shownMetadata(metadata: Metadata): Metadata {
  const annotations = Object.entries(metadata.annotations).filter(([key]) => key !== APPLIED_ANNOTATION);
  return withMetadata(metadata, { annotations: Object.fromEntries(annotations) as Dictionary });
}

function color(patch: string, isColored: boolean): string {
  if (!isColored) return patch;
  const colorOf = (line: string): "green" | "red" | undefined =>
    /^\+(?!\+\+)/.test(line) ? "green" : /^-(?!--)/.test(line) ? "red" : undefined;
  return patch
    .split("\n")
    .map((line) => {
      const wanted = colorOf(line);
      return wanted === undefined ? line : styleText(wanted, line, { validateStream: false });
    })
    .join("\n");
}
