// What an author of controllers uses: the two forms, their inputs and outputs, and what a reconcile can say. Start
// with queue-controller.ts; the engine that runs them is runtime/.
export {
  controller,
  type ClassicInput,
  type Controller,
  type FinalizableIn,
  type ReconcileContext,
  type ResourceIn,
  type RunContext,
} from "./controller.ts";
export type {
  ControllerCreateOptions,
  ControllerDestroyOptions,
  ControllerModifyOptions,
  ControllerReader,
  ControllerState,
  ControllerUncachedReader,
  ControllerWriter,
} from "./controller-state.ts";
export {
  destroyReady,
  InputKind,
  mapped,
  mappedDestroyReady,
  strong,
  weak,
  type Input,
  type MapContext,
  type MappedInput,
  type Mapper,
  type ReducedMetadata,
} from "./input.ts";
export {
  findRequeue,
  findSkip,
  requeueAfter,
  RequeueError,
  skip,
  SkipError,
  type ReconcileResult,
  type Requeue,
  type Skip,
} from "./outcome.ts";
export { exclusive, OutputKind, shared, type Output } from "./output.ts";
export {
  isQueueController,
  queueController,
  type MapInputContext,
  type QueueContext,
  type QueueController,
  type QueueReconcileContext,
  type QueueState,
} from "./queue-controller.ts";
export { UndeclaredCode, UndeclaredError } from "./undeclared-error.ts";
export { cleanup, type CleanupDefinition } from "./ready/cleanup.ts";
export {
  hasNoOutputs,
  removeOutputs,
  type CleanupHandler,
  type DependentsOf,
  type RemoveOutputsOptions,
} from "./ready/cleanup-handlers.ts";
export { DestroyOutputError } from "./ready/destroy-output-error.ts";
export { destroyer, type DestroyerOptions } from "./ready/destroyer.ts";
export { byLabel, sameId } from "./ready/mappers.ts";
export { queueTransform } from "./ready/queue-transform.ts";
export type { QueueTransformDefinition, QueueTransformState } from "./ready/queue-transform-definition.ts";
export { removeOutput } from "./ready/remove-output.ts";
export type {
  AnyControllerState,
  FinalizeContext,
  ReadyContext,
  ResourceOf,
  TransformContext,
  TransformResult,
} from "./ready/transform-context.ts";
export { transform } from "./ready/transform.ts";
export type { TransformDefinition, TransformState } from "./ready/transform-definition.ts";
