import { isThenable } from "../internal/thenable.ts";
import type { Metadata } from "./metadata/metadata.ts";
import { MetadataDraft } from "./metadata/metadata-draft.ts";
import { draftOf, samePlain, type Draft, type Immutable } from "./spec/plain-data.ts";
import { replaceMetadata, sealResource, sourceOf, type Resource, type SpecSource } from "./resource.ts";

/**
 * Changes a resource: may write to the draft of the spec and to the draft of the metadata, and may return a spec that
 * takes the draft's place. It can run more than once, so it must have no side effects that must not be repeated.
 */
export type Change<Spec> = (spec: Draft<Spec>, metadata: MetadataDraft) => ChangedSpec<Spec>;

/**
 * A {@link Change} of a resource that may not exist yet. The draft of a new spec is an empty object, so anything may be
 * missing in it: fill it, or return a spec.
 */
export type CreateOrChange<Spec> = (spec: Partial<Draft<Spec>>, metadata: MetadataDraft) => ChangedSpec<Spec>;

type ChangedSpec<Spec> =
  | Spec
  | Draft<Spec>
  | Immutable<Spec>
  | void
  | Promise<Spec | Draft<Spec> | Immutable<Spec> | void>;

/**
 * The value that `change` makes of `resource`; `resource` itself when nothing differs. Rejects with whatever `change`
 * throws, unchanged.
 *
 * @throws {StateError} `invalid` when the changed spec is refused by the resource's schema.
 */
export async function changeResource<Spec>(
  resource: Resource<Spec>,
  change: Change<Spec>,
  source: SpecSource | undefined = sourceOf(resource),
): Promise<Resource<Spec>> {
  const metadata = new MetadataDraft(resource.metadata);
  const draft = draftOf(resource.spec) as Draft<Spec>;
  const returned = change(draft, metadata);
  // Plain data holds no functions, so nothing but a promise has a `then` method.
  const settled = isThenable(returned) ? await returned : returned;
  const spec = settled === undefined ? draft : settled;
  const sealed = metadata.seal();
  if (samePlain(spec, resource.spec)) return withSealedMetadata(resource, sealed);
  const changed = sealResource<Spec>(sealed, spec, source);
  // The schema may have turned the new spec into the old one.
  return samePlain(changed.spec, resource.spec) ? withSealedMetadata(resource, sealed) : changed;
}

function withSealedMetadata<Spec>(resource: Resource<Spec>, sealed: Metadata): Resource<Spec> {
  return sealed === resource.metadata ? resource : replaceMetadata(resource, sealed);
}
