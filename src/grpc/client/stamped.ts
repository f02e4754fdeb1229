import { EPOCH, replaceMetadata, sealMetadata, type Resource } from "../../resource/index.ts";

/**
 * A new resource with the time at which it is sent, unless it has one. Go's server takes the time of the last update of
 * a new resource from its client; ours sets its own.
 */
export function stamped(resource: Resource, nowMs: number): Resource {
  const { metadata } = resource;
  if (metadata.updated !== EPOCH) return resource;
  const now = new Date(nowMs).toISOString();
  const sealed = sealMetadata(
    metadata.namespace,
    metadata.type,
    metadata.id,
    metadata.version,
    metadata.owner,
    metadata.phase,
    now,
    now,
    metadata.finalizers,
    metadata.labels,
    metadata.annotations,
  );
  return replaceMetadata(resource, sealed);
}
