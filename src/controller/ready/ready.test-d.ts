import { expectTypeOf, test } from "vitest";
import { defineResource, equal, shape } from "../../resource/index.ts";
import type { Controller } from "../controller.ts";
import { exclusive } from "../output.ts";
import { mapped, weak } from "../input.ts";
import { cleanup } from "./cleanup.ts";
import { hasNoOutputs } from "./cleanup-handlers.ts";
import { sameId } from "./mappers.ts";
import { queueTransform } from "./queue-transform.ts";
import { transform } from "./transform.ts";

const In = defineResource({ type: "Ins.example.dev", spec: shape({ value: "integer" }) });
const Out = defineResource({ type: "Outs.example.dev", spec: shape({ text: "string" }) });
const Extra = defineResource({ type: "Extras.example.dev", spec: shape({ flag: "boolean" }) });

test("the functions of a transform know their resources, and reach what is declared", () => {
  const made = transform({
    name: "T",
    input: In,
    output: Out,
    inputs: [weak(Extra)],
    map: (input) => String(input.spec.value),
    async transform({ input, draft, state }) {
      expectTypeOf(input.spec.value).toEqualTypeOf<number>();
      expectTypeOf(draft.text).toEqualTypeOf<string | undefined>();
      expectTypeOf((await state.get(Extra, "a")).spec.flag).toEqualTypeOf<boolean>();
      // @ts-expect-error It only reads it.
      await state.modify(Extra, "a", () => ({ flag: true }));
      return { text: "x" };
    },
  });
  expectTypeOf(made).toEqualTypeOf<Controller>();
  queueTransform({
    name: "T",
    input: In,
    output: Out,
    inputs: [mapped(Extra, sameId(In))],
    outputs: [exclusive(Extra)],
    async transform({ input, state }) {
      await state.modify(Extra, "a", () => ({ flag: input.spec.value > 0 }));
      return { text: "x" };
    },
  });
});

test("what does not fit does not compile", () => {
  // @ts-expect-error The output has a text.
  transform({ name: "T", input: In, output: Out, transform: () => ({ text: 1 }) });
  queueTransform({
    name: "T",
    input: In,
    output: Out,
    // @ts-expect-error It maps to what is not the input.
    inputs: [mapped(Extra, sameId(Out))],
    transform: () => ({ text: "x" }),
  });
  transform({
    name: "T",
    input: In,
    output: Out,
    async transform({ state }) {
      // @ts-expect-error It is not declared.
      await state.get(Extra, "a");
      return { text: "x" };
    },
  });
  const made = cleanup({
    name: "C",
    input: In,
    handlers: [
      hasNoOutputs<typeof In>(Extra, (input) => ({
        labels: [equal("of", String(input.spec.value))],
      })),
    ],
  });
  expectTypeOf(made).toEqualTypeOf<Controller>();
});
