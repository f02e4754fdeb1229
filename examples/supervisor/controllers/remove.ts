import { isNotFound, type AnyResourceType, type Ref } from "homeostat";
import type { ControllerWriter } from "homeostat/controller";

/**
 * Takes a resource of the controller's own out of the state: tears it down, and destroys it as soon as no finalizer
 * holds it. One that is gone already is fine.
 */
export async function remove<R extends AnyResourceType>(
  state: Pick<ControllerWriter<R, never>, "teardown" | "destroy">,
  ref: Ref<unknown, R["type"]>,
): Promise<void> {
  try {
    if (await state.teardown(ref)) await state.destroy(ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
