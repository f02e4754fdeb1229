import {
  createResource,
  labelKeyMistake,
  replaceMetadata,
  samePlain,
  withMetadata,
  type Dictionary,
  type Resource,
} from "../../resource/index.ts";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { readableSpec } from "../print/readable-value.ts";
import type { SpecWriter } from "./spec-writer.ts";

/** What the State may be asked to change otherwise than by hand. */
const FIXED = ["namespace", "type", "id", "version", "owner", "phase"] as const;

/**
 * The stored resource with the labels, annotations, finalizers and spec of an edited copy; undefined when that comes to
 * nothing. The times of the copy do not count: they are shown in whole seconds.
 *
 * @throws {CliError} failed, for a change of anything else.
 */
export async function editedResource(
  stored: Resource,
  edited: Resource,
  specs: SpecWriter,
): Promise<Resource | undefined> {
  for (const field of FIXED) {
    if (edited.metadata[field] === stored.metadata[field]) continue;
    const message = `metadata.${field} cannot be changed: it is ${JSON.stringify(stored.metadata[field])}`;
    throw new CliError(ExitCode.failed, message);
  }
  const { labels, annotations, finalizers } = edited.metadata;
  checkNewLabels(labels, stored.metadata.labels);
  const metadata = withMetadata(stored.metadata, { labels, annotations, finalizers });
  // A spec that was not touched keeps the bytes that it came as.
  const isSameSpec = samePlain(edited.spec, await readableSpec(stored));
  if (!isSameSpec) return createResource(metadata, await specs.write(metadata, stored.spec, edited.spec));
  return samePlain(metadata, stored.metadata) ? undefined : replaceMetadata(stored, metadata);
}

/** Keys that are there already may have come from a peer that has other rules. @throws {CliError} failed */
export function checkNewLabels(labels: Dictionary, stored: Dictionary): void {
  for (const key of Object.keys(labels)) {
    const mistake = Object.hasOwn(stored, key) ? undefined : labelKeyMistake(key);
    if (mistake !== undefined) throw new CliError(ExitCode.failed, `metadata.labels: ${mistake}`);
  }
}
