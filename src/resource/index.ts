// Resources as values: metadata, specs, labels and their queries, types, and the errors that concern them. Start with
// resource.ts and type/resource-type.ts.
export { capabilityOf, defineCapability, type Capability } from "./type/capability.ts";
export {
  definitionOf,
  META_NAMESPACE,
  META_OWNER,
  NamespaceType,
  ResourceDefinitionType,
  SCHEMA_ANNOTATION,
} from "./type/definition.ts";
export { definitionsOf } from "./type/definitions.ts";
export type { NamespaceSpec, PrintColumn, ResourceDefinitionSpec } from "./type/meta-specs.ts";
export {
  EMPTY_DICTIONARY,
  sameDictionary,
  sealDictionary,
  sortedKeys,
  type Dictionary,
} from "./metadata/dictionary.ts";
export {
  NO_FINALIZERS,
  sealFinalizers,
  withFinalizers,
  withoutFinalizers,
  type Finalizers,
} from "./metadata/finalizers.ts";
export { Handle } from "./spec/handle.ts";
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
} from "./metadata/metadata.ts";
export { assertSameLife, isSameLife, lifeOf, lifePointer, withLife, type LifePointer } from "./metadata/life.ts";
export { firstRevision, nextRevision, withPhaseAndFinalizers, withTimes } from "./metadata/metadata-copies.ts";
export { MetadataDraft } from "./metadata/metadata-draft.ts";
export { compileIdQuery, type IdQuery } from "./labels/id-query.ts";
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
} from "./labels/label-query.ts";
export { labelKeyMistake } from "./labels/label-key.ts";
export { formatLabelQuery, parseLabelSelector } from "./labels/label-selector.ts";
export { OpaqueSpec, type OpaqueParts } from "./spec/opaque-spec.ts";
export { parsePhase, Phase } from "./metadata/phase.ts";
export { samePlain, type Draft, type Immutable } from "./spec/plain-data.ts";
export { formatPointer, formatReference, type Kind, type Pointer, type Ref } from "./pointer.ts";
export { changeResource, type Change, type CreateOrChange } from "./change-resource.ts";
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
} from "./type/resource-type.ts";
export { shape, type Shaped, type ShapeSchema } from "./spec/shape.ts";
export type { Shape } from "./spec/shape-schema.ts";
export type { JsonSchema } from "./spec/json-schema.ts";
export { jsonCodec } from "./spec/json-codec.ts";
export type { SpecCodec } from "./spec/spec-codec.ts";
export { formatSpecPath, type SpecIssue } from "./spec/spec-issue.ts";
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
export { preloadLibraries } from "./preload-libraries.ts";
export { createTombstone, isTombstone, type Tombstone } from "./tombstone.ts";
export { TypeRegistry } from "./type/type-registry.ts";
export { compareTimes, EPOCH, isTimestamp, momentOf, type Moment } from "./metadata/timestamp.ts";
export { parseQuantity } from "./labels/quantity.ts";
export { compareVersions, nextVersion, parseVersion, UNDEFINED_VERSION } from "./metadata/version.ts";
export { keepEncoding, keptEncoding, keptSpecEncoding } from "./kept-encoding.ts";
