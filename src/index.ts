// Resources: what is declared.
export {
  capabilityOf,
  createResource,
  defineCapability,
  defineResource,
  Handle,
  isTombstone,
  OpaqueSpec,
  Phase,
  sameResource,
  shape,
  TypeRegistry,
  withSpec,
  type AnyResourceType,
  type Capability,
  type Change,
  type Draft,
  type Immutable,
  type Kind,
  type Metadata,
  type MetadataDraft,
  type Pointer,
  type Ref,
  type Resource,
  type ResourceType,
  type SpecCodec,
  type SpecOf,
  type Tombstone,
} from "./resource/index.ts";
export { createTombstone, formatPointer, formatReference, isDestroyReady, patchMetadata } from "./resource/index.ts";

// Queries over labels and ids.
export {
  equal,
  exists,
  formatLabelQuery,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  matchesLabels,
  not,
  oneOf,
  parseLabelSelector,
  type LabelQuery,
  type LabelTerm,
} from "./resource/index.ts";

// The definitions of types, for tools that show them.
export {
  definitionOf,
  NamespaceType,
  ResourceDefinitionType,
  type NamespaceSpec,
  type ResourceDefinitionSpec,
} from "./resource/index.ts";

// Errors.
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
} from "./resource/index.ts";

// States: where resources live.
export {
  AccessFilter,
  EventType,
  isCancellation,
  NamespaceRegistry,
  NamespaceRouter,
  OwnedState,
  ResourceRegistry,
  wrapState,
  type Access,
  type AccessRule,
  type AccessVerb,
  type CallOptions,
  type CoreState,
  type CreateOptions,
  type DestroyOptions,
  type Event,
  type GetOptions,
  type ListOptions,
  type OverrunPolicy,
  type Query,
  type ResourceList,
  type State,
  type TeardownSignal,
  type UpdateOptions,
  type Watch,
  type WatchCondition,
  type WatchKindOptions,
  type WatchOptions,
} from "./state/index.ts";
export {
  MemoryNamespace,
  MemoryState,
  type BackingStore,
  type HistoryOptions,
  type MemoryStateOptions,
} from "./memory/index.ts";

// Controllers: what acts.
export {
  controller,
  destroyReady,
  exclusive,
  InputKind,
  mapped,
  mappedDestroyReady,
  OutputKind,
  queueController,
  requeueAfter,
  RequeueError,
  shared,
  silentLogger,
  skip,
  SkipError,
  strong,
  UndeclaredError,
  weak,
  type Controller,
  type ControllerReader,
  type ControllerState,
  type ControllerWriter,
  type Input,
  type Logger,
  type Mapper,
  type Output,
  type QueueController,
  type ReconcileResult,
  type ReducedMetadata,
} from "./controller/index.ts";

// Time.
export { ManualClock, SystemClock, type Clock, type Timer } from "./clock/index.ts";

// The runtime: what runs controllers on a State.
export {
  consoleLogger,
  MetricsRegistry,
  RegistrationCode,
  RegistrationError,
  Runtime,
  type ConsoleLoggerOptions,
  type ControllerExplanation,
  type EdgeType,
  type Explanation,
  type Graph,
  type GraphEdge,
  type MetricsSnapshot,
  type Outcome,
  type RateLimit,
  type RunOptions,
  type RuntimeOptions,
} from "./runtime/index.ts";

// Control planes in one piece: what `homeostat run` runs.
export {
  defineControlPlane,
  describeTypes,
  type ControlPlane,
  type ControlPlaneInit,
  type RunControlPlaneOptions,
  type StartContext,
} from "./control-plane/index.ts";
