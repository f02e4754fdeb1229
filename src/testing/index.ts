// What our own tests are written with, for yours: contract suites, assertions that wait, faults. Start with
// suites/state/state-conformance.ts.
// The contract suites and what they are written with.
export {
  Int,
  PathResource,
  Sentence,
  Str,
  type IntSpec,
  type PathSpec,
  type TextSpec,
} from "./suites/conformance-resources.ts";
export { stateConformance, STATE_SCENARIOS, type StateSuiteOptions } from "./suites/state/state-conformance.ts";
export {
  RUNTIME_SCENARIOS,
  runtimeConformance,
  type RuntimeSuiteOptions,
} from "./suites/runtime/runtime-conformance.ts";
export { RUNTIME_VARIANTS, type RuntimeVariant } from "./suites/runtime/runtime-world.ts";
export type { TestApi, TestContext } from "./suites/test-api.ts";
export {
  failingController,
  intDoublerController,
  intToStrController,
  metricsController,
  modifyWithResultController,
  strToSentenceController,
  sumController,
  type SumControllerOptions,
} from "./suites/runtime/conformance-controllers.ts";
export {
  LAST_HOOK_RUN,
  queueFailingController,
  queueIntToStrController,
  queueSleepingController,
} from "./suites/runtime/conformance-queue-controllers.ts";

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
} from "./assert/assert-resource.ts";
export type { WaitOptions } from "./assert/deadline.ts";
export { destroyAll, destroyResources, teardownResources, type EndOptions } from "./assert/destroy-resources.ts";
export { eventually, type EventuallyOptions } from "./assert/eventually.ts";

// Watches.
export { describeEvent, sameEvent } from "./assert/describe-event.ts";
export { expectEvents, type ExpectedEvent } from "./assert/expect-events.ts";
export { foldWatch, WatchFold, type FoldOptions } from "./assert/watch-fold.ts";
export { WatchReader } from "./assert/watch-reader.ts";

// Stores and their faults.
export {
  CALL_FAULTS,
  DEAF_OPERATIONS,
  DeafState,
  type Deafness,
  type DeafOperation,
  type DeafStateOptions,
} from "./faults/deaf-state.ts";
export { WATCH_FAULTS, type WatchFault } from "./faults/deaf-watch.ts";
export { FaultyState, type Fault, type FaultyStateOptions } from "./faults/faulty-state.ts";
export { JsonBackingStore, type StoreStep } from "./faults/json-backing-store.ts";
export { InterceptedState, type InterceptOptions, type StateCall } from "./faults/intercepted-state.ts";

// Randomness that repeats itself.
export { seededRandom } from "./assert/seeded-random.ts";

// Logs.
export { RecordingLogger, type LogLine } from "./assert/recording-logger.ts";
