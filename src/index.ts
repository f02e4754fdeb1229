// What most programs need. Everything else is in its room: homeostat/resource, /state, /memory, /store, /controller, /runtime,
// /plane, /tasks, /log, /clock; docs/architecture.md has the map.

// Resources: what is declared.
export {
  createResource,
  defineResource,
  equal,
  exists,
  isConflict,
  isNotFound,
  lessOrEqual,
  not,
  oneOf,
  OpaqueSpec,
  Phase,
  shape,
  StateError,
  withSpec,
  type AnyResourceType,
  type Immutable,
  type Kind,
  type Metadata,
  type Pointer,
  type Ref,
  type Resource,
  type ResourceType,
  type SpecOf,
} from "./resource/index.ts";

// States: where resources live.
export {
  EventType,
  NamespaceRouter,
  reflect,
  wrapState,
  type CoreState,
  type Event,
  type State,
  type Watch,
} from "./state/index.ts";
export { MemoryState } from "./memory/index.ts";

// Controllers: what acts.
export {
  controller,
  destroyReady,
  exclusive,
  mapped,
  queueController,
  queueTransform,
  requeueAfter,
  RequeueError,
  shared,
  skip,
  SkipError,
  strong,
  transform,
  weak,
  type Controller,
  type ControllerState,
  type QueueController,
  type QueueReconcileContext,
  type ReconcileContext,
  type ReconcileResult,
} from "./controller/index.ts";

// The runtime: what runs controllers on a State; control planes in one piece.
export { Runtime } from "./runtime/index.ts";
export { defineControlPlane, type ControlPlane } from "./plane/index.ts";

// Logs and time.
export { consoleLogger, silentLogger, type Logger } from "./log/index.ts";
export { ManualClock, type Clock } from "./clock/index.ts";
