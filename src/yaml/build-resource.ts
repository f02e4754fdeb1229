import { messageOf } from "../internal/foreign-value.ts";
import {
  createResource,
  formatPointer,
  StateError,
  type AnyResourceType,
  type MetadataInit,
  type Resource,
} from "../resource/index.ts";
import type { YamlError } from "./yaml-error.ts";
import type { YamlSource } from "./yaml-source.ts";

/** The resource, or what is wrong with its spec: each issue at the place of its field. */
export function buildResource(
  source: YamlSource,
  init: MetadataInit,
  spec: unknown,
  type: AnyResourceType,
): Resource | readonly YamlError[] {
  try {
    const { codec } = type;
    return createResource(init, codec.fromReadable === undefined ? spec : codec.fromReadable(spec), type.source);
  } catch (cause) {
    return specErrors(source, cause, `${formatPointer(init)} cannot be checked`);
  }
}

/** What `cause` says, as errors of the document. A schema may throw anything; that must not hide other documents. */
function specErrors(source: YamlSource, cause: unknown, fallback: string): readonly YamlError[] {
  if (cause instanceof StateError && cause.issues !== undefined) {
    return cause.issues.map(({ path, message }) => {
      const field = ["spec", ...path];
      return source.error(message, source.locate(field), field, { cause });
    });
  }
  const message = messageOf(cause);
  return [source.error(`${fallback}: ${message}`, source.locate(["spec"]), ["spec"], { cause })];
}

export const isErrors = (built: Resource | readonly YamlError[]): built is readonly YamlError[] => Array.isArray(built);
