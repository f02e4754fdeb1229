// The engine: what wakes controllers, runs them, and holds them to their declarations. Start with runtime.ts;
// docs/architecture.md walks from a change to a reconcile.
export type { ControllerExplanation } from "./adapter.ts";
export type { AdapterStatus, ControllerStatus, Failure } from "./explain/controller-status.ts";
export type { Explanation, ExplanationStep } from "./explain/explanation.ts";
export type { EdgeType, GraphEdge } from "./graph/graph-edge.ts";
export { Graph } from "./graph/graph.ts";
export { MetricsRegistry, type ControllerMetrics, type Gauge, type MetricsSnapshot } from "./metrics/metrics.ts";
export type { Outcome } from "./explain/outcome-log.ts";
export type { RateLimit } from "./rate-limiter.ts";
export type { HeldFinalizer } from "./registration/held-finalizers.ts";
export { RegistrationCode, RegistrationError } from "./registration-error.ts";
export type { RunOptions, RuntimeOptions } from "./runtime-options.ts";
export { StopTimeoutError } from "../internal/stop-timeout-error.ts";
export { Runtime } from "./runtime.ts";
