import { hasCode, type AnyResourceType, type Resource } from "../../resource/index.ts";
import type { ControllerWriter } from "../controller-state.ts";

type FinalizerWriter = ControllerWriter<never, AnyResourceType>;

/** An input that is gone, also when another took its place: a change that wakes the controller again. */
const isGone = (error: unknown): boolean => hasCode(error, "not_found", "version_conflict");

/** Puts the controller's finalizer on an input, unless it is there. @returns false when the input is gone meanwhile. */
export async function holdInput(
  state: Pick<FinalizerWriter, "addFinalizer">,
  { metadata }: Resource,
  finalizer: string,
): Promise<boolean> {
  if (metadata.finalizers.includes(finalizer)) return true;
  try {
    await state.addFinalizer(metadata, finalizer);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Takes the controller's finalizer off an input. One that is gone meanwhile is fine. */
export async function releaseInput(
  state: Pick<FinalizerWriter, "removeFinalizer">,
  { metadata }: Resource,
  finalizer: string,
): Promise<void> {
  try {
    await state.removeFinalizer(metadata, finalizer);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
