// Long-running activities beside controllers, restarted with backoff. Start with task-runner.ts.
export { StopTimeoutError } from "../internal/stop-timeout-error.ts";
export { runWithSignal, type Future, type RunWithSignalOptions } from "./run-with-signal.ts";
export { Task, type TaskContext, type TaskOptions, type TaskSpec, type TaskState } from "./task.ts";
export { equalByOwnRule, TaskRunner, type Comparable, type TaskRunnerOptions } from "./task-runner.ts";
