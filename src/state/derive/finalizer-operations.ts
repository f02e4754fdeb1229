import type { Clock } from "../../clock/index.ts";
import {
  replaceMetadata,
  withFinalizers,
  withoutFinalizers,
  withPhaseAndFinalizers,
  type Finalizers,
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
      return replaceMetadata(current, withPhaseAndFinalizers(metadata, metadata.phase, finalizers));
    },
  });
}
