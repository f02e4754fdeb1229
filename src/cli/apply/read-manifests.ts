import { withoutControls } from "../../internal/visible-text.ts";
import type { AnyResourceType, Resource } from "../../resource/index.ts";
import type { Manifests } from "../../yaml/index.ts";
import { loadKinds, type KindCatalog } from "../args/kind-catalog.ts";
import { usageError } from "../cli-error.ts";
import type { WriteContext } from "../command-context.ts";
import { looseType } from "./loose-type.ts";
import { readManifestFiles } from "./manifest-files.ts";

/** Which manifests are meant. */
export interface ManifestOptions {
  /** Files, folders, `-` for standard input. */
  readonly files: readonly string[];
  /** Look into the folders of a folder. Default: false. */
  readonly recursive?: boolean | undefined;
  /** For manifests that name none; others must be of it. Default: that of each type. */
  readonly namespace?: string | undefined;
}

/** One resource of a manifest, with the text that it comes from. */
export interface ReadManifest {
  readonly resource: Resource;
  readonly manifests: Manifests;
}

export interface ReadManifests {
  readonly manifests: readonly ReadManifest[];
  /** True when a document had a mistake, which has been told. */
  readonly hasMistakes: boolean;
  /** The types that they may be of. */
  readonly catalog: KindCatalog;
}

/** Reads manifests. Each mistake is told on standard error and costs one resource. @throws {CliError} usage */
export async function readManifests(
  context: WriteContext,
  { files, recursive = false, namespace }: ManifestOptions,
): Promise<ReadManifests> {
  if (files.length === 0) throw usageError("-f is missing: a file, a folder, or - for standard input");
  const texts = await readManifestFiles(files, recursive, context);
  const catalog = await loadKinds(context.state, context.signal);
  const { parseManifests } = await import("../../yaml/index.ts");
  const read: ReadManifest[] = [];
  let hasMistakes = false;
  for (const { file, text } of texts) {
    const manifests = await parseManifests(text, { file, ...typesOf(catalog, namespace) });
    for (const { message } of manifests.errors) {
      hasMistakes = true;
      await context.stderr.write(`${withoutControls(message)}\n`);
    }
    read.push(...manifests.resources.map((resource) => ({ resource, manifests })));
  }
  if (read.length === 0 && !hasMistakes) throw usageError("there is no manifest in what -f names");
  return { manifests: read, hasMistakes, catalog };
}

/** The types that are described, and every other full name: a State takes types without a description. */
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
