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
