import type { Clock } from "../../clock/index.ts";
import {
  replaceMetadata,
  sealMetadata,
  withFinalizers,
  withoutFinalizers,
  type Finalizers,
  type Metadata,
  type Phase,
  type Pointer,
} from "../../resource/index.ts";
import type { CoreState } from "../core-state.ts";
import { deriveUntilWritten } from "./update-with-conflicts.ts";

export const addFinalizers = (
  core: Pick<CoreState, "get" | "update">,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  names: readonly string[],
): Promise<void> => changeFinalizers(core, clock, pointer, (list) => withFinalizers(list, ...names));

export const removeFinalizers = (
  core: Pick<CoreState, "get" | "update">,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  names: readonly string[],
): Promise<void> => changeFinalizers(core, clock, pointer, (list) => withoutFinalizers(list, ...names));

/** Changes finalizers in the name of the owner, in any phase, without touching its spec. */
async function changeFinalizers(
  core: Pick<CoreState, "get" | "update">,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  change: (list: Finalizers) => Finalizers,
): Promise<void> {
  await deriveUntilWritten(core, clock, {
    pointer,
    owner: "stored",
    expectedPhase: "any",
    signal: undefined,
    derive: (current) => {
      const { metadata } = current;
      const finalizers = change(metadata.finalizers);
      if (finalizers === metadata.finalizers) return current;
      return replaceMetadata(current, withState(metadata, metadata.phase, finalizers));
    },
  });
}

/** `metadata` with another phase and other finalizers. Everything else is valid and frozen already. */
export function withState(metadata: Metadata, phase: Phase, finalizers: Finalizers): Metadata {
  return sealMetadata(
    metadata.namespace,
    metadata.type,
    metadata.id,
    metadata.version,
    metadata.owner,
    phase,
    metadata.created,
    metadata.updated,
    finalizers,
    metadata.labels,
    metadata.annotations,
  );
}
