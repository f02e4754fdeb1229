// A whole control plane as one value, and how it runs. Start with define-control-plane.ts.
export type {
  ControlPlane,
  ControlPlaneInit,
  PlaneContext,
  PlaneTask,
  RunControlPlaneOptions,
  RuntimeContext,
  StartContext,
} from "./control-plane.ts";
export { defineControlPlane } from "./define-control-plane.ts";
export { describeTypes } from "./describe-types.ts";
export {
  ENGINE_NAMESPACE,
  ENGINE_TYPES,
  EngineController,
  EngineExplanation,
  explanationId,
  parseExplanationId,
  type EngineControllerSpec,
  type EngineExplanationSpec,
} from "./engine/engine-types.ts";
