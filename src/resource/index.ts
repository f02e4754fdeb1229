export { capabilityOf, defineCapability, type Capability } from "./capability.ts";
export {
  definitionOf,
  META_NAMESPACE,
  META_OWNER,
  NamespaceType,
  ResourceDefinitionType,
  SCHEMA_ANNOTATION,
} from "./definition.ts";
export { definitionsOf } from "./definitions.ts";
export type { NamespaceSpec, PrintColumn, ResourceDefinitionSpec } from "./meta-specs.ts";
export { EMPTY_DICTIONARY, sealDictionary, sortedKeys, type Dictionary } from "./dictionary.ts";
export { NO_FINALIZERS, sealFinalizers, withFinalizers, withoutFinalizers, type Finalizers } from "./finalizers.ts";
export { Handle } from "./handle.ts";
export {
  createMetadata,
  isDestroyReady,
  kindOf,
  sameMetadata,
  sealMetadata,
  withMetadata,
  withOwner,
  type Metadata,
  type MetadataInit,
  type MetadataPatch,
} from "./metadata.ts";
export { MetadataDraft } from "./metadata-draft.ts";
export { compileIdQuery, type IdQuery } from "./id-query.ts";
export {
  equal,
  exists,
  LabelOperator,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  matchesLabels,
  not,
  oneOf,
  type LabelQuery,
  type LabelTerm,
} from "./label-query.ts";
export { labelKeyMistake } from "./label-key.ts";
export { formatLabelQuery, parseLabelSelector } from "./label-selector.ts";
export { OpaqueSpec, type OpaqueParts } from "./opaque-spec.ts";
export { parsePhase, Phase } from "./phase.ts";
export { samePlain, type Draft, type Immutable } from "./plain-data.ts";
export { formatPointer, formatReference, type Kind, type Pointer, type Ref } from "./pointer.ts";
export { changeResource, type Change } from "./change-resource.ts";
export {
  createResource,
  isSealed,
  patchMetadata,
  replaceMetadata,
  resourceBytes,
  sameResource,
  sealResource,
  sourceOf,
  withSpec,
  type Resource,
  type SpecSource,
} from "./resource.ts";
export {
  defineResource,
  type AnyResourceType,
  type CreateInit,
  type ResourceType,
  type ResourceTypeInit,
  type SpecOf,
  type TypePresentation,
} from "./resource-type.ts";
export { shape, type Shaped, type ShapeSchema } from "./shape.ts";
export type { Shape } from "./shape-schema.ts";
export type { JsonSchema } from "./json-schema.ts";
export { jsonCodec } from "./json-codec.ts";
export type { SpecCodec } from "./spec-codec.ts";
export { formatSpecPath, type SpecIssue } from "./spec-issue.ts";
export {
  hasCode,
  isConflict,
  isInvalidBookmark,
  isNotFound,
  isOwnerConflict,
  isPhaseConflict,
  isUnsupported,
  StateError,
  StateErrorCode,
  type ConflictFilter,
  type StateErrorOptions,
} from "./state-error.ts";
export { createTombstone, isTombstone, type Tombstone } from "./tombstone.ts";
export { TypeRegistry } from "./type-registry.ts";
export { EPOCH, isTimestamp } from "./timestamp.ts";
export { compareVersions, nextVersion, parseVersion, UNDEFINED_VERSION } from "./version.ts";
export { keepEncoding, keptEncoding, keptSpecEncoding } from "./kept-encoding.ts";
