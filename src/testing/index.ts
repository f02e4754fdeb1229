// The contract suites and what they are written with.
export {
  Int,
  PathResource,
  Sentence,
  Str,
  type IntSpec,
  type PathSpec,
  type TextSpec,
} from "./conformance-resources.ts";
export { stateConformance, STATE_SCENARIOS, type StateSuiteOptions } from "./state-conformance.ts";
export { RUNTIME_SCENARIOS, runtimeConformance, type RuntimeSuiteOptions } from "./runtime-conformance.ts";
export { RUNTIME_VARIANTS, type RuntimeVariant } from "./runtime-world.ts";
export type { TestApi, TestContext } from "./test-api.ts";
export {
  failingController,
  intDoublerController,
  intToStrController,
  metricsController,
  modifyWithResultController,
  strToSentenceController,
  sumController,
  type SumControllerOptions,
} from "./conformance-controllers.ts";
export {
  LAST_HOOK_RUN,
  queueFailingController,
  queueIntToStrController,
  queueSleepingController,
} from "./conformance-queue-controllers.ts";

// Waiting for what must become true.
export {
  assertAll,
  assertLength,
  assertNoResource,
  assertResource,
  assertResources,
  resourceIds,
  type AssertOptions,
  type Check,
} from "./assert-resource.ts";
export type { WaitOptions } from "./deadline.ts";
export { destroyAll, destroyResources, teardownResources, type EndOptions } from "./destroy-resources.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";

// Watches.
export { describeEvent, sameEvent } from "./describe-event.ts";
export { expectEvents, type ExpectedEvent } from "./expect-events.ts";
export { foldWatch, WatchFold, type FoldOptions } from "./watch-fold.ts";
export { WatchReader } from "./watch-reader.ts";

// Stores and their faults.
export { FaultyState, type Fault, type FaultyStateOptions } from "./faulty-state.ts";
export { JsonBackingStore, type StoreStep } from "./json-backing-store.ts";
export { InterceptedState, type InterceptOptions, type StateCall } from "./intercepted-state.ts";

// Logs.
export { RecordingLogger, type LogLine } from "./recording-logger.ts";
