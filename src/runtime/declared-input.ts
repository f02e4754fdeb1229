import type { Input, InputKind } from "../controller/index.ts";
import { compareText } from "../internal/compare-text.ts";
import type { Kind } from "../resource/index.ts";

/** An input as the engine keeps it: an address, or a whole kind, and what it gives. */
export interface DeclaredInput extends Kind {
  /** Only this resource; undefined for all of the kind. */
  readonly id: string | undefined;
  readonly kind: InputKind;
}

/** A copy that no later change to the author's object reaches. */
export function declareInput(input: Input): DeclaredInput {
  const { kind, id, resource } = input;
  return Object.freeze({ namespace: resource.namespace, type: resource.type, id, kind });
}

const KIND_ORDER: Readonly<Record<InputKind, number>> = {
  weak: 0,
  strong: 1,
  destroyReady: 2,
  primary: 3,
  mapped: 4,
  mappedDestroyReady: 5,
};

/** Orders inputs by namespace, type, id (unset sorts like the empty text), then kind. Gives -1, 0 or 1. */
export function compareInputs(a: DeclaredInput, b: DeclaredInput): number {
  return Math.sign(
    compareText(a.namespace, b.namespace) ||
      compareText(a.type, b.type) ||
      compareText(a.id ?? "", b.id ?? "") ||
      KIND_ORDER[a.kind] - KIND_ORDER[b.kind],
  );
}

/** True when two inputs of one controller cannot stand beside each other: same namespace, type and id. */
export function sameInputKey(a: DeclaredInput, b: DeclaredInput): boolean {
  return a.id === b.id && a.type === b.type && a.namespace === b.namespace;
}

/** {@link sameInputKey}, and the same kind of input. */
export function sameInput(a: DeclaredInput, b: DeclaredInput): boolean {
  return a.kind === b.kind && sameInputKey(a, b);
}

/** How an input is named in errors. */
export function formatInput({ namespace, type, id }: Omit<DeclaredInput, "kind">): string {
  return id === undefined ? `${type} in ${JSON.stringify(namespace)}` : `${type}(${namespace}/${id})`;
}
