import {
  exclusive,
  mappedDestroyReady,
  queueController,
  requeueAfter,
  RequeueError,
  type QueueController,
} from "../../../controller/index.ts";
import { Phase, type Ref } from "../../../resource/index.ts";
import { removeOutput } from "./conformance-controllers.ts";
import { Int, Str, type TextSpec } from "../conformance-resources.ts";

/** What the run hook of {@link queueIntToStrController} writes; "lastInvokation" is spelt as in the original suite. */
export const LAST_HOOK_RUN: Ref<TextSpec, "test/str"> = Str.in("hooks").ref("lastInvokation");

/**
 * Writes every {@link Int} of a namespace as a {@link Str} of the same id, one key at a time. Its run hook fails at
 * first; started again, it writes the time to {@link LAST_HOOK_RUN} each second.
 *
 * @param onShutdown - Called by the shutdown hook.
 */
export function queueIntToStrController(
  sourceNamespace: string,
  targetNamespace: string,
  onShutdown?: () => void,
): QueueController {
  const name = "QIntToStrController";
  const source = Int.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  let hookRuns = 0;
  return queueController({
    name,
    primary: source,
    inputs: [mappedDestroyReady(target)],
    outputs: [exclusive(target)],
    concurrency: 4,
    async reconcile({ ref, state }) {
      const int = await state.getOrNull(ref);
      if (int === undefined) return;
      if (int.metadata.phase === Phase.running) {
        await state.addFinalizer(ref, name);
        await state.modify(target, ref.id, () => ({ value: String(int.spec.value) }));
      } else if (await removeOutput(state, target.ref(ref.id))) {
        await state.removeFinalizer(ref, name);
      }
    },
    mapInput({ input }) {
      if (input.type !== target.type || input.namespace !== target.namespace) {
        throw new Error(`unexpected input ${input.type} in ${input.namespace}`);
      }
      return [source.ref(input.id)];
    },
    async runHook({ state, clock, signal }) {
      if (hookRuns++ === 0) throw new Error("the first attempt fails on purpose");
      while (!signal.aborted) {
        const now = `${new Date(clock.now()).toISOString().slice(0, "2000-01-01T00:00:00".length)}Z`;
        await state.modify(Str.in(LAST_HOOK_RUN.namespace), LAST_HOOK_RUN.id, () => ({ value: now }));
        await clock.sleep(1_000, { signal });
      }
    },
    shutdownHook() {
      onShutdown?.();
    },
  });
}

/**
 * Does what the value of each input {@link Str} says: `fail`, `panic`, `requeue_no_error` or `requeue_with_error`; any
 * other is copied to the target.
 */
export function queueFailingController(sourceNamespace: string, targetNamespace: string): QueueController {
  const source = Str.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  return queueController({
    name: "QFailingController",
    primary: [source, Int.in(sourceNamespace)],
    outputs: [exclusive(target)],
    concurrency: 4,
    async reconcile({ ref, state }) {
      if (ref.type !== source.type) return;
      const str = await state.getOrNull(source, ref.id);
      if (str === undefined) return;
      switch (str.spec.value) {
        case "fail":
          throw new Error("failing on purpose");
        case "panic":
          // A panic is whatever is thrown that no one would throw on purpose, and need not be an error.
          return await Promise.reject("panicking on purpose" as unknown as Error);
        case "requeue_no_error":
          return requeueAfter(100);
        case "requeue_with_error":
          throw new RequeueError(100, new Error("requeueing on purpose"));
        default:
          await state.modify(target, ref.id, () => ({ value: str.spec.value }));
      }
    },
    mapInput() {
      throw new Error("called although there are no mapped inputs");
    },
  });
}

/**
 * As {@link queueIntToStrController}, with one worker and no hooks. Before it writes it sleeps as many milliseconds as
 * the value says, or until the input is torn down.
 */
export function queueSleepingController(sourceNamespace: string, targetNamespace: string): QueueController {
  const name = "QIntToStrSleepingController";
  const source = Int.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  return queueController({
    name,
    primary: source,
    inputs: [mappedDestroyReady(target, ({ id }) => [source.ref(id)])],
    outputs: [exclusive(target)],
    async reconcile({ ref, state, clock, signal }) {
      const int = await state.getOrNull(ref);
      if (int === undefined) return;
      if (int.metadata.phase === Phase.running) {
        await state.addFinalizer(ref, name);
        await using teardown = await state.signalWithTeardown(ref, { signal });
        await clock.sleep(int.spec.value, { signal: teardown.signal });
        await state.modify(target, ref.id, () => ({ value: String(int.spec.value) }));
      } else if (await removeOutput(state, target.ref(ref.id))) {
        await state.removeFinalizer(ref, name);
      }
    },
  });
}
