import { isConflict, Phase, type AnyResourceType } from "../../resource/index.ts";
import { shared } from "../output.ts";
import { queueController, type QueueController } from "../queue-controller.ts";

/** Options of {@link destroyer}. */
export interface DestroyerOptions {
  /** Resources looked at at once. Default: 1. */
  readonly concurrency?: number | undefined;
}

/**
 * A queue controller that destroys what was torn down, belongs to no controller, and is held by no finalizer any more: so
 * whoever asks for the end of a resource need not wait for it. In the namespace of the type, of which no other controller
 * may be the exclusive writer. Its name is `Destroy[TYPE]`.
 */
export const destroyer = (type: AnyResourceType, { concurrency }: DestroyerOptions = {}): QueueController =>
  queueController({
    name: `Destroy[${type.type}]`,
    primary: type,
    outputs: [shared(type)],
    concurrency,
    async reconcile({ ref, state }) {
      const resource = await state.getOrNull(ref);
      if (resource === undefined) return;
      const { metadata } = resource;
      if (metadata.phase === Phase.running || metadata.owner !== "" || metadata.finalizers.length > 0) return;
      try {
        await state.destroy(metadata, { owner: "" });
      } catch (error) {
        // Held, taken over or created anew meanwhile: that change is looked at next.
        if (!isConflict(error)) throw error;
      }
    },
  });
