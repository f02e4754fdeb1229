import { onOneLine } from "../../../internal/visible-text.ts";
import type { AnyResourceType } from "../../../resource/index.ts";
import { applyManifest } from "../../apply/apply-manifest.ts";
import { usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf } from "../../failure.ts";
import { loadKinds, type KindCatalog } from "../../args/kind-catalog.ts";
import { looseType } from "../../apply/loose-type.ts";
import { readManifestFiles } from "../../apply/manifest-files.ts";
import { describeMistakes } from "../../apply/manifest-mistakes.ts";
import { nameOf } from "../../print/printer.ts";
import { SpecWriter } from "../../apply/spec-writer.ts";

export interface ApplyOptions {
  /** Files, folders, `-` for standard input. */
  readonly files: readonly string[];
  /** Look into the folders of a folder. Default: false. */
  readonly recursive?: boolean | undefined;
  /** For manifests that name none; others must be of it. Default: that of each type. */
  readonly namespace?: string | undefined;
  /** Write in the name of this owner. Default: none. */
  readonly owner?: string | undefined;
}

/**
 * Creates or updates what manifests declare. Labels and annotations are added to those that are there; a spec takes the
 * place of the stored one. A mistake costs one resource, and the others are applied.
 */
export async function apply(context: WriteContext, options: ApplyOptions): Promise<ExitCode> {
  if (options.files.length === 0) throw usageError("-f is missing: a file, a folder, or - for standard input");
  const texts = await readManifestFiles(options.files, options.recursive ?? false, context);
  const catalog = await loadKinds(context.state, context.signal);
  const { parseManifests } = await import("../../../yaml/index.ts");
  const specs = new SpecWriter(context.state, context.signal);
  let exitCode: ExitCode = ExitCode.ok;
  let count = 0;
  const complain = async (message: string): Promise<void> => {
    exitCode = ExitCode.failed;
    await context.stderr.write(`${onOneLine(message)}\n`);
  };
  for (const { file, text } of texts) {
    const manifests = await parseManifests(text, { file, ...typesOf(catalog, options.namespace) });
    for (const { message } of manifests.errors) await complain(message);
    for (const resource of manifests.resources) {
      count++;
      try {
        const done = await applyManifest(context.state, resource, {
          hasSpec: !manifests.withoutSpec.has(resource),
          namespace: options.namespace,
          owner: options.owner,
          specs,
          signal: context.signal,
        });
        await context.stdout.write(`${nameOf(resource.metadata)} ${done}\n`);
      } catch (error) {
        if (context.signal.aborted || exitCodeOf(error) === ExitCode.unavailable) throw error;
        for (const message of describeMistakes(error, resource, manifests)) await complain(message);
      }
    }
  }
  if (count === 0 && exitCode === ExitCode.ok) throw usageError("there is no manifest in what -f names");
  return exitCode;
}

/** The types that are described, and every other full name: a State takes types that nobody described. */
function typesOf(
  catalog: KindCatalog,
  namespace: string | undefined,
): { readonly types: readonly AnyResourceType[]; readonly otherTypes: (name: string) => AnyResourceType | undefined } {
  return {
    types: catalog.kinds.map((kind) => looseType(kind, namespace)),
    otherTypes: (name) => {
      const kind = catalog.findUndescribed(name);
      return kind && looseType(kind, namespace);
    },
  };
}
