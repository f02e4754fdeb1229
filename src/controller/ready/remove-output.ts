import { hasCode, isNotFound, type AnyResourceType, type Ref } from "../../resource/index.ts";
import type { ControllerDestroyOptions, ControllerWriter } from "../controller-state.ts";

/**
 * Tears a resource down, and destroys it once no finalizer holds it: the one way in which a controller removes what it
 * wrote. Give `resource.metadata` in place of a reference to leave alone another resource that was created at its address.
 *
 * @returns true when it is gone; false while something holds it: look again when it is released (`destroyReady`).
 * @throws {StateError} `owner_conflict` and what else a write can meet.
 */
export async function removeOutput<Type extends string>(
  state: Pick<ControllerWriter<AnyResourceType & { readonly type: Type }, never>, "teardown" | "destroy">,
  ref: Ref<unknown, Type>,
  options: ControllerDestroyOptions = {},
): Promise<boolean> {
  try {
    if (!(await state.teardown(ref, options))) return false;
    await state.destroy(ref, options);
  } catch (error) {
    // Held again since it was torn down: whoever did that releases it, too.
    if (hasCode(error, "pending_finalizers")) return false;
    if (!isNotFound(error)) throw error;
  }
  return true;
}
