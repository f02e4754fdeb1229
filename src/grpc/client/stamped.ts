import { EPOCH, replaceMetadata, withTimes, type Resource } from "../../resource/index.ts";

/**
 * A new resource with the time at which it is sent, unless it has one. Go's server takes the time of the last update of
 * a new resource from its client; ours sets its own.
 */
export function stamped(resource: Resource, nowMs: number): Resource {
  const { metadata } = resource;
  if (metadata.updated !== EPOCH) return resource;
  const now = new Date(nowMs).toISOString();
  return replaceMetadata(resource, withTimes(metadata, now, now));
}
