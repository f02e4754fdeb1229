import {
  controller,
  destroyReady,
  exclusive,
  shared,
  strong,
  weak,
  type Controller,
  type ControllerWriter,
} from "../../../controller/index.ts";
import {
  formatPointer,
  isNotFound,
  Phase,
  type AnyResourceType,
  type LabelQuery,
  type Ref,
} from "../../../resource/index.ts";
import { Int, Sentence, Str } from "../conformance-resources.ts";

/** Tears an output down and destroys it. True when it is gone; false when something still keeps it. */
export async function removeOutput<Type extends string>(
  state: Pick<ControllerWriter<AnyResourceType & { readonly type: Type }, never>, "teardown" | "destroy">,
  ref: Ref<unknown, Type>,
): Promise<boolean> {
  try {
    if (!(await state.teardown(ref))) return false;
    await state.destroy(ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return true;
}

/** Writes every {@link Int} of a namespace as a {@link Str} of the same id, and keeps the Int until the Str is gone. */
export function intToStrController(sourceNamespace: string, targetNamespace: string): Controller {
  const source = Int.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  return controller({
    name: "IntToStrController",
    inputs: [strong(source), destroyReady(target)],
    outputs: [exclusive(target)],
    async reconcile({ state }) {
      for (const int of await state.list(source)) {
        const input = source.ref(int.metadata.id);
        const output = target.ref(int.metadata.id);
        const finalizer = formatPointer(output);
        if (int.metadata.phase === Phase.running) {
          await state.addFinalizer(input, finalizer);
          await state.modify(target, output.id, () => ({ value: String(int.spec.value) }));
        } else if (await removeOutput(state, output)) {
          await state.removeFinalizer(input, finalizer);
        }
      }
    },
  });
}

/** As {@link intToStrController}, from {@link Str} to {@link Sentence}; it declares its inputs when it runs. */
export function strToSentenceController(sourceNamespace: string, targetNamespace: string): Controller {
  const source = Str.in(sourceNamespace);
  const target = Sentence.in(targetNamespace);
  return controller({
    name: "StrToSentenceController",
    outputs: [exclusive(target)],
    dynamicInputs: [Str, Sentence],
    async run({ state, wakeups, updateInputs, resetRestartBackoff }) {
      await updateInputs([strong(source), destroyReady(target)]);
      for await (const _ of wakeups) {
        for (const str of await state.list(source)) {
          const input = source.ref(str.metadata.id);
          const output = target.ref(str.metadata.id);
          const finalizer = formatPointer(output);
          if (str.metadata.phase === Phase.running) {
            await state.addFinalizer(input, finalizer);
            await state.modify(target, output.id, (_spec, metadata) => {
              metadata.labels["combined"] = "";
              return { value: `${str.spec.value} sentence` };
            });
          } else if (await removeOutput(state, output)) {
            await state.removeFinalizer(input, finalizer);
          }
        }
        resetRestartBackoff();
      }
    },
  });
}

/** Where {@link sumController} reads and writes. */
export interface SumControllerOptions {
  readonly sourceNamespace: string;
  readonly targetNamespace: string;
  readonly targetId: string;
  /** Which Ints are summed up. Default: all. */
  readonly labels?: LabelQuery | undefined;
}

/** Sums up the {@link Int}s of a namespace in another Int; several of them share the type. */
export function sumController(name: string, options: SumControllerOptions): Controller {
  const { sourceNamespace, targetNamespace, targetId, labels } = options;
  const source = Int.in(sourceNamespace);
  const target = Int.in(targetNamespace);
  return controller({
    name,
    outputs: [shared(target)],
    dynamicInputs: [Int],
    async run({ state, wakeups, updateInputs }) {
      await updateInputs([weak(source)]);
      for await (const _ of wakeups) {
        const ints = await state.list(source, { labels });
        const sum = ints.reduce((total, int) => total + int.spec.value, 0);
        await state.modify(target, targetId, () => ({ value: sum }));
      }
    },
  });
}

/** Writes one {@link Int} whose id and value are the number of runs so far, then fails; each run is one restart. */
export function failingController(targetNamespace: string, options: { readonly panic: boolean }): Controller {
  const target = Int.in(targetNamespace);
  let count = 0;
  return controller({
    name: "FailingController",
    outputs: [exclusive(target)],
    async run({ state, wakeups }) {
      for await (const _ of wakeups) {
        const value = count++;
        await state.modify(target, String(value), () => ({ value }));
        if (!options.panic) throw new Error("failing on purpose");
        // A panic is whatever is thrown that no one would throw on purpose, and need not be an error.
        await Promise.reject("panicking on purpose" as unknown as Error);
      }
    },
  });
}

/** Doubles every {@link Int} of a namespace; what no longer has an input is cleaned up by output tracking. */
export function intDoublerController(sourceNamespace: string, targetNamespace: string): Controller {
  const source = Int.in(sourceNamespace);
  const target = Int.in(targetNamespace);
  return controller({
    name: "IntDoublerController",
    inputs: [strong(source)],
    outputs: [shared(target)],
    async run({ state, wakeups, startTrackingOutputs, cleanupOutputs }) {
      for await (const _ of wakeups) {
        startTrackingOutputs();
        for (const int of await state.list(source)) {
          await state.modify(target, int.metadata.id, () => ({ value: int.spec.value * 2 }));
        }
        await cleanupOutputs(target);
      }
    },
  });
}

/** Writes two {@link Str}s for each input: a changed copy, and what it found when it looked at what `modify` returned. */
export function modifyWithResultController(sourceNamespace: string, targetNamespace: string): Controller {
  const source = Str.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  return controller({
    name: "ModifyWithResultController",
    inputs: [strong(source)],
    outputs: [exclusive(target)],
    async reconcile({ state }) {
      for (const str of await state.list(source)) {
        const id = `${str.metadata.id}-out`;
        const value = `${str.spec.value}-modified`;
        const result = await state.modify(target, id, () => ({ value }));
        const verdict =
          result.metadata.id !== id
            ? `wrong id: ${result.metadata.id}`
            : result.spec.value !== value
              ? `wrong value: ${result.spec.value}`
              : `${str.spec.value}-valid`;
        await state.modify(target, `${id}-modify-result`, () => ({ value: verdict }));
      }
    },
  });
}

/** Makes a known number of calls for each {@link Int}, and fails at the value 42: for exact figures in the metrics. */
export function metricsController(name: string, sourceNamespace: string, targetNamespace: string): Controller {
  const source = Int.in(sourceNamespace);
  const target = Str.in(targetNamespace);
  return controller({
    name,
    inputs: [strong(source), destroyReady(target)],
    outputs: [exclusive(target)],
    async reconcile({ state }) {
      for (const int of await state.list(source)) {
        if (int.spec.value === 42) throw new Error("42 is no good");
        await state.modify(target, int.metadata.id, () => ({ value: String(int.spec.value) }));
        try {
          await state.destroy(target.ref("there is none"));
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
    },
  });
}
