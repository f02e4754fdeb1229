import {
  InputKind,
  isQueueController,
  OutputKind,
  type Controller,
  type Input,
  type Output,
  type QueueController,
} from "../../controller/index.ts";
import type { AnyResourceType } from "../../resource/index.ts";
import type { DeclaredClassic, DeclaredQueue } from "../adapter.ts";
import { declareInput, formatInput, sameInputKey, type DeclaredInput } from "../declared-input.ts";
import { duplicateInput, type DeclaredOutput } from "../graph/dependency-graph.ts";
import { RegistrationError, type RegistrationCode } from "../registration-error.ts";

const CLASSIC_KINDS: ReadonlySet<unknown> = new Set([InputKind.weak, InputKind.strong, InputKind.destroyReady]);
const QUEUE_KINDS: ReadonlySet<unknown> = new Set([InputKind.mapped, InputKind.mappedDestroyReady]);
const OUTPUT_KINDS: ReadonlySet<unknown> = new Set(Object.values(OutputKind));
const isOutputKind = (kind: unknown): kind is OutputKind => OUTPUT_KINDS.has(kind);

/**
 * Checks a controller by itself and copies its declarations, so that no later change to the author's objects counts.
 *
 * @throws {RegistrationError}
 */
export function declareController(controller: Controller | QueueController): DeclaredClassic | DeclaredQueue {
  const { name } = controller as { readonly name: unknown };
  if (typeof name !== "string" || name === "") {
    throw new RegistrationError(
      "invalid_controller",
      "",
      `a controller needs a name that is not empty, got ${JSON.stringify(name)}`,
    );
  }
  const outputs = (controller.outputs ?? []).map((output: Partial<Output> | undefined): DeclaredOutput => {
    const { kind, resource } = output ?? {};
    if (!isOutputKind(kind)) throw refuse("invalid_output", name, `invalid output kind ${JSON.stringify(kind)}`);
    return { kind, type: checkType("invalid_output", name, "an output", resource).type };
  });
  if (isQueueController(controller)) return declareQueue(name, controller, outputs);
  if ((controller.reconcile === undefined) === (controller.run === undefined)) {
    throw refuse("invalid_controller", name, `a classic controller has either reconcile or run`);
  }
  const inputs = declareClassicInputs(name, controller.inputs ?? []);
  const dynamicTypes = (controller.dynamicInputs ?? []).map(
    (resource) => checkType("invalid_input", name, "a dynamic input", resource).type,
  );
  return { form: "classic", controller, name, inputs, outputs, dynamicTypes };
}

/** @throws {RegistrationError} `invalid_input`, `duplicate_input` */
export function declareClassicInputs(name: string, inputs: readonly Input[]): readonly DeclaredInput[] {
  return declareInputs(name, inputs, CLASSIC_KINDS);
}

function declareQueue(name: string, controller: QueueController, outputs: readonly DeclaredOutput[]): DeclaredQueue {
  const { concurrency = 1, primary } = controller;
  if (!(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    const text = `invalid concurrency ${concurrency}: it must be a whole number of at least 1`;
    throw refuse("invalid_concurrency", name, text);
  }
  if (typeof controller.reconcile !== "function") {
    throw refuse("invalid_controller", name, "a queue controller has a reconcile");
  }
  const types = Array.isArray(primary) ? (primary as readonly AnyResourceType[]) : [primary as AnyResourceType];
  if (types.length === 0) throw refuse("invalid_controller", name, "a queue controller has at least one primary");
  const primaries = types.map((resource) =>
    declareInput({ kind: InputKind.primary, resource: checkType("invalid_controller", name, "a primary", resource) }),
  );
  const given = controller.inputs ?? [];
  const mapped = declareInputs(name, given, QUEUE_KINDS);
  const mappings = mapped.map((input, i) => ({ input, map: given[i]?.map }));
  for (const { input, map } of mappings) {
    if (map !== undefined || controller.mapInput !== undefined) continue;
    const text = `input ${formatInput(input)} has no mapper, and there is no mapInput`;
    throw refuse("invalid_controller", name, text);
  }
  const inputs = checkDuplicates(name, [...primaries, ...mapped]);
  return { form: "queue", controller, name, inputs, outputs, concurrency, primaries, mappings };
}

function declareInputs(name: string, inputs: readonly Input[], kinds: ReadonlySet<unknown>): readonly DeclaredInput[] {
  for (const input of inputs) {
    const { kind, id, resource }: Partial<Input> = (input as Input | undefined) ?? {};
    if (!kinds.has(kind)) {
      throw refuse(
        "invalid_input",
        name,
        `invalid input kind ${JSON.stringify(kind)} of controller ${JSON.stringify(name)}`,
      );
    }
    if (id === "")
      throw refuse("invalid_input", name, "the id of an input must not be empty; leave it out for all of the kind");
    checkType("invalid_input", name, "an input", resource);
  }
  return checkDuplicates(name, inputs.map(declareInput));
}

function checkDuplicates(name: string, inputs: readonly DeclaredInput[]): readonly DeclaredInput[] {
  inputs.forEach((input, at) => {
    if (inputs.findIndex((other) => sameInputKey(other, input)) !== at) throw duplicateInput(name, input);
  });
  return inputs;
}

/** A type that is not there yet when it is declared, since modules import each other, is the usual mistake. */
function checkType(
  code: RegistrationCode,
  controller: string,
  what: string,
  resource: Partial<AnyResourceType> | undefined,
): AnyResourceType {
  if (typeof resource?.type === "string" && typeof resource.namespace === "string") return resource as AnyResourceType;
  const got = resource === undefined ? "undefined; do two modules import each other?" : typeof resource;
  throw refuse(code, controller, `${what} is of a type that defineResource gave, got ${got}`);
}

function refuse(code: RegistrationCode, controller: string, message: string): RegistrationError {
  return new RegistrationError(code, controller, message);
}
