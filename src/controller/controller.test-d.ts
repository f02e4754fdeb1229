import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expectTypeOf } from "vitest";

import { defineResource } from "../resource/index.ts";
import type { State } from "../state/index.ts";
import { controller } from "./controller.ts";
import { exclusive } from "./output.ts";
import { mapped, mappedDestroyReady, strong, weak } from "./input.ts";
import { queueController } from "./queue-controller.ts";
import { requeueAfter } from "./outcome.ts";
import type { ControllerReader, ControllerState, ControllerWriter } from "./controller-state.ts";

declare const numberSpec: StandardSchemaV1<{ value: number }>;
declare const textSpec: StandardSchemaV1<{ value: string; tags: string[] }>;

const Int = defineResource({ type: "test/int", spec: numberSpec });
const Str = defineResource({ type: "test/str", spec: textSpec });
const Other = defineResource({ type: "test/other", spec: textSpec });

queueController({
  name: "QueueController",
  primary: Int,
  inputs: [mappedDestroyReady(Str, (str) => [Int.ref(str.id)])],
  outputs: [exclusive(Str)],
  async reconcile({ ref, state }) {
    expectTypeOf(ref.type).toEqualTypeOf<"test/int">();
    const int = await state.getOrNull(ref);
    expectTypeOf(int?.spec.value).toEqualTypeOf<number | undefined>();
    const str = await state.get(Str, "x");
    expectTypeOf(str.spec.tags).toEqualTypeOf<readonly string[]>();
    await state.modify(Str, ref.id, (spec, metadata) => {
      spec.value = "1";
      // @ts-expect-error in a new resource nothing is there yet
      spec.tags.push("a");
      (spec.tags ??= []).push("a");
      metadata.labels["a"] = "b";
    });
    await state.modify(Str, ref.id, () => ({ value: "1", tags: [] }));
    // In a resource that exists, everything is there.
    await state.updateWithConflicts(Str, ref.id, (spec) => {
      spec.tags.push("a");
    });
    // @ts-expect-error an input is no output
    await state.updateWithConflicts(Int, "x", () => ({ value: 1 }));
    await state.create(Str.create("a", { value: "1", tags: [] }));
    await state.update(str);
    await state.teardown(Str.ref("a"));
    await state.destroy(Str.ref("a"));
    await state.addFinalizer(ref, "f");
    await state.addFinalizer(Int.ref("x"), "f");
    // @ts-expect-error an undeclared type cannot be read
    await state.get(Other, "x");
    // @ts-expect-error an undeclared type cannot be read by reference
    await state.get(Other.ref("x"));
    // @ts-expect-error an undeclared type cannot be listed
    await state.list(Other);
    // @ts-expect-error an input is no output
    await state.modify(Int, "x", () => ({ value: 1 }));
    // @ts-expect-error an input is no output
    await state.create(Int.create("x", { value: 1 }));
    // @ts-expect-error an input is no output
    await state.destroy(Int.ref("x"));
    // @ts-expect-error a destroy-ready input gives no right to finalizers
    await state.addFinalizer(Str.ref("x"), "f");
    // @ts-expect-error what was read is frozen
    str.spec.value = "2";
    // @ts-expect-error what was read is frozen
    str.spec.tags.push("2");
    return requeueAfter(1000);
  },
});

queueController({
  name: "Mapped",
  primary: [Int, Str],
  inputs: [mapped(Other, (other) => [Int.ref(other.id), Str.ref(other.id)])],
  async reconcile({ ref, state }) {
    expectTypeOf(ref.type).toEqualTypeOf<"test/int" | "test/str">();
    await state.addFinalizer(Other.ref("x"), "f");
  },
});

queueController({
  name: "MappedToNothing",
  primary: Int,
  inputs: [mapped(Str, () => []), mappedDestroyReady(Other)],
  reconcile() {},
});

queueController({
  name: "WrongTarget",
  primary: Int,
  // @ts-expect-error a mapper must return primaries
  inputs: [mapped(Other, (other) => [Str.ref(other.id)])],
  reconcile() {},
});

controller({
  name: "Classic",
  inputs: [strong(Int.in("a")), weak(Str)],
  outputs: [exclusive(Other)],
  async reconcile({ state, trackOutputs }) {
    trackOutputs(Other);
    for (const int of await state.list(Int.in("a"))) {
      expectTypeOf(int.spec.value).toEqualTypeOf<number>();
      await state.addFinalizer(Int.ref(int.metadata.id), "f");
    }
    // @ts-expect-error a weak input gives no right to finalizers
    await state.addFinalizer(Str.ref("x"), "f");
  },
});

controller({
  name: "Dynamic",
  outputs: [exclusive(Other)],
  dynamicInputs: [Str],
  async run({ state, updateInputs, wakeups }) {
    await updateInputs([strong(Str.in("source")), weak(Str.in("b"), "one")]);
    // @ts-expect-error a type that was not announced
    await updateInputs([strong(Int)]);
    for await (const _ of wakeups) {
      const list = await state.list(Str.in("source"));
      expectTypeOf(list[0]?.spec.value).toEqualTypeOf<string | undefined>();
    }
  },
});

/** A helper for any controller: nothing is known of its declarations, so everything compiles. */
export async function anyController(state: ControllerState): Promise<void> {
  const int = await state.get(Int, "x");
  expectTypeOf(int.spec.value).toEqualTypeOf<number>();
  await state.create(Str.create("a", { value: "1", tags: [] }));
  await state.modify(Str, "a", (spec) => {
    spec.value = "2";
  });
  await state.addFinalizer(Int.ref("x"), "f");
}

// A helper asks for what it needs; a controller that declared at least that can call it.
declare function readInt(reader: ControllerReader<typeof Int>): void;
declare function writeStr(writer: ControllerWriter<typeof Str, typeof Int>): void;
declare const store: State;
declare const narrow: ControllerState<typeof Other, typeof Other, typeof Other>;
declare const wide: ControllerState<typeof Int | typeof Other, typeof Str | typeof Other, typeof Int | typeof Other>;

readInt(wide);
readInt(store);
writeStr(wide);
// @ts-expect-error it does not read Ints
readInt(narrow);
// @ts-expect-error it does not write Strs
writeStr(narrow);

declare const anyPrimary: ControllerState<typeof Int | typeof Str, typeof Str, typeof Int>;
declare const eitherRef: ReturnType<typeof Int.ref> | ReturnType<typeof Str.ref>;

const either = await anyPrimary.get(eitherRef);
expectTypeOf(either.spec.value).toEqualTypeOf<string | number>();
expectTypeOf(await anyPrimary.update(Str.create("a", { value: "1", tags: [] }))).toEqualTypeOf<
  ReturnType<typeof Str.create>
>();
