import { firstRevision, nextRevision, replaceMetadata, type Resource } from "../../resource/index.ts";

/**
 * A new resource as a State will store it: with the owner that its create claims, the first version and the present
 * time, whatever its caller wrote there. A create that claims another owner than its resource has is refused later.
 */
export function asCreated(resource: Resource, owner: string, now: string): Resource {
  const { metadata } = resource;
  return replaceMetadata(resource, firstRevision(metadata, metadata.owner || owner, now));
}

/**
 * A changed resource as a State will store it: one version on, updated now, and created when the stored one was.
 *
 * @param stored - What stands there; undefined when nothing does, so that the update is refused later.
 */
export function asUpdated(resource: Resource, stored: Resource | undefined, now: string): Resource {
  const { metadata } = resource;
  const { created } = (stored ?? resource).metadata;
  return replaceMetadata(resource, nextRevision(metadata, created, now));
}
