import { sameDictionary, type Metadata } from "../resource/index.ts";

/** True when a mapper cannot tell one from the other: {@link ReducedMetadata} is all that it gets. */
export function looksSame(a: Metadata, b: Metadata): boolean {
  return (
    a.phase === b.phase &&
    (a.finalizers.length === 0) === (b.finalizers.length === 0) &&
    (a.labels === b.labels || sameDictionary(a.labels, b.labels))
  );
}

/** `states` with one more, unless a mapper would get the same as from one of them. */
export function withState(states: readonly Metadata[], state: Metadata): readonly Metadata[] {
  return states.some((other) => looksSame(other, state)) ? states : [...states, state];
}
