import { formatPointer, type AnyResourceType, type Resource } from "../resource/index.ts";
import { readManifest, type Manifest } from "./manifest.ts";
import { collect } from "./metadata-yaml.ts";
import { splitDocuments, type DocumentText } from "./split-documents.ts";
import { TypeNames } from "./type-names.ts";
import { formatPosition, YamlError, type Position } from "./yaml-error.ts";
import { YamlSource } from "./yaml-source.ts";

/** Options of {@link parseManifests}: the types that may come. */
export interface ParseManifestsOptions {
  /** The types that manifests may be of. */
  readonly types: Iterable<AnyResourceType>;
  /** Gives a type for a name that none of `types` has. Default: there are no others. */
  readonly otherTypes?: ((name: string) => AnyResourceType | undefined) | undefined;
  /** Name of the file, for positions. */
  readonly file?: string | undefined;
  /**
   * Says which fields stay the text that is written, such as `["spec", "env", "MODE"]`: there `0022` is "0022", `1.10` is
   * "1.10", and nothing is "". Default: none; values have the types that YAML 1.2 gives them.
   */
  readonly keepText?: ((field: readonly (string | number)[]) => boolean) | undefined;
  /** Longer texts are refused. Unit: UTF-16 units. Default: 1 Mi. */
  readonly maxLength?: number | undefined;
}

/** What a stream of manifests holds. */
export interface Manifests {
  /** The resources of all documents without a mistake, in their order. */
  readonly resources: readonly Resource[];
  /** Every mistake of the others, in their order. */
  readonly errors: readonly YamlError[];
  /** Where each resource stands. */
  readonly positions: ReadonlyMap<Resource, Position>;
  /** The resources whose documents have no `spec`: theirs is an empty one. */
  readonly withoutSpec: ReadonlySet<Resource>;
  /**
   * Where a field of one of the resources stands: `positionOf(web, "spec", "dependsOn", 0)`. For a field that is not
   * there, the nearest part around it; undefined for other resources.
   */
  positionOf(resource: Resource, ...path: readonly (string | number)[]): Position | undefined;
}

const DEFAULTS = { maxLength: 2 ** 20 } as const;

/**
 * Reads resources as people write them: a stream of YAML (or JSON) documents, each of the form
 *
 * ```yaml
 * metadata:
 *     type: Service        # the full type, or any alias of it: Services.supervisor.example.dev, svc
 *     id: web
 *     labels: { tier: front }
 * spec:
 *     command: [node, web.js]
 * ```
 *
 * `metadata` may hold everything that metadata has, so that the output of {@link formatResource} can be read as well;
 * only `type` and `id` must be there. The namespace defaults to the type's. `spec` is checked by the type's schema, and
 * may be absent where the schema accepts an empty one. Values in `metadata` are texts whatever they look like. Unknown
 * keys are mistakes, and so is a resource that stands there twice.
 *
 * A mistake in one document never hides another document. The promise rejects only for programming mistakes.
 */
export async function parseManifests(text: string, options: ParseManifestsOptions): Promise<Manifests> {
  const { file, maxLength = DEFAULTS.maxLength, keepText } = options;
  const reader = new ManifestReader(new TypeNames(options.types, options.otherTypes), file, keepText);
  if (text.length > maxLength) {
    const start = { file, line: 1, column: 1 };
    reader.errors.push(
      new YamlError(`the text has ${text.length} characters, more than the ${maxLength} allowed`, start),
    );
    return reader;
  }
  for (const document of splitDocuments(text)) await reader.read(document);
  return reader;
}

class ManifestReader implements Manifests {
  readonly resources: Resource[] = [];
  readonly errors: YamlError[] = [];
  readonly positions: Map<Resource, Position> = new Map<Resource, Position>();
  readonly withoutSpec: Set<Resource> = new Set<Resource>();
  readonly #byAddress = new Map<string, Position>();
  readonly #sources = new Map<Resource, YamlSource>();
  readonly #types: TypeNames;
  readonly #file: string | undefined;
  readonly #keepText: ParseManifestsOptions["keepText"];

  constructor(types: TypeNames, file: string | undefined, keepText: ParseManifestsOptions["keepText"]) {
    this.#types = types;
    this.#file = file;
    this.#keepText = keepText;
  }

  async read({ text, firstLine }: DocumentText): Promise<void> {
    const errors: YamlError[] = [];
    const source = collect(errors, () => new YamlSource(text, { file: this.#file, firstLine }));
    if (source !== undefined && source.root !== null) {
      const manifest = await readManifest(source, this.#types, errors, this.#keepText);
      if (manifest !== undefined && errors.length === 0) this.#add(manifest, source, errors);
    }
    this.errors.push(...errors.sort((a, b) => a.line - b.line || a.column - b.column));
  }

  positionOf(resource: Resource, ...path: readonly (string | number)[]): Position | undefined {
    const source = this.#sources.get(resource);
    return source?.positionOf(source.locate(path));
  }

  #add({ resource, hasSpec }: Manifest, source: YamlSource, errors: YamlError[]): void {
    const { namespace, type, id } = resource.metadata;
    const address = JSON.stringify([namespace, type, id]);
    const first = this.#byAddress.get(address);
    if (first !== undefined) {
      const at = ["metadata", "id"];
      const name = formatPointer(resource.metadata);
      errors.push(source.error(`${name} is there already, at ${formatPosition(first)}`, source.locate(at), at));
      return;
    }
    const position = source.positionOf(source.root);
    this.#byAddress.set(address, position);
    this.positions.set(resource, position);
    this.#sources.set(resource, source);
    if (!hasSpec) this.withoutSpec.add(resource);
    this.resources.push(resource);
  }
}
