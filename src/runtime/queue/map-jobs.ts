import type { MapInputContext, QueueController } from "../../controller/index.ts";
import { formatPointer, isDestroyReady, type Metadata, type Pointer } from "../../resource/index.ts";
import type { DeclaredMapping, Route } from "../adapter.ts";
import type { Change } from "../change.ts";
import { withState } from "../mapper-view.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import { OutcomeLog } from "../explain/outcome-log.ts";
import type { IsOwn } from "../causes/wake-up-causes.ts";
import { itemContext, reduceMetadata, type SharedContext } from "./item-context.ts";
import { KindQueue } from "./item-queue.ts";
import { REMEMBERED_KEYS, type QueueItem, type JobQueue } from "./queue-worker.ts";

/** States of one mapped resource that wait for a mapper, at most: one that keeps failing must not collect them for ever. */
const MAX_UNMAPPED = 64;

const NOTHING: readonly Metadata[] = [];

/** What map jobs need of their controller. */
export interface MapJobsHost {
  readonly controller: QueueController;
  readonly metrics: ControllerMetrics;
  readonly shared: SharedContext;
  /** Makes a map job due. */
  readonly put: (id: string, states: readonly Metadata[], nowMs: number, change: Change) => void;
  /** Puts a primary. @throws {Error} when its kind is not one of the primaries. */
  readonly putPrimary: (pointer: Pointer, isOwn: IsOwn | undefined) => void;
  /** Workers look for what was put. */
  readonly wake: () => void;
  /** Puts all primaries that exist. */
  readonly refill: () => void;
}

/**
 * The map jobs of one mapped input. A job's value is what the resource was, and is, since it was mapped last, as far as
 * the mapper can tell it apart: a primary that it leaves has to be looked at as well as one that it comes to.
 */
export class MapJobs {
  readonly kindQueue: JobQueue;
  readonly #host: MapJobsHost;
  readonly #mapping: DeclaredMapping;

  constructor(mapping: DeclaredMapping, makeHost: (kindQueue: JobQueue) => MapJobsHost) {
    this.#mapping = mapping;
    const outcomes = new OutcomeLog(REMEMBERED_KEYS);
    this.kindQueue = new KindQueue({ name: "map", input: mapping.input, outcomes, run: (item) => this.#run(item) });
    this.#host = makeHost(this.kindQueue);
  }

  route(): Route {
    const onlyDestroyReady = this.#mapping.input.kind === "mappedDestroyReady";
    return {
      trigger: (change, nowMs) => {
        const { metadata, certain } = change;
        if (onlyDestroyReady && !certain && !isDestroyReady(metadata)) return;
        const before = onlyDestroyReady ? change.before.filter(isDestroyReady) : change.before;
        const waiting = this.kindQueue.find(metadata.id)?.value ?? NOTHING;
        this.#host.put(metadata.id, this.#merge(waiting, [...before, metadata], change.isBeforeCut), nowMs, change);
      },
      // What vanished can no longer be mapped, so any primary may be concerned.
      resynced: (vanished) => {
        if (vanished !== "triggered") this.#host.refill();
      },
    };
  }

  /** All states stay to be mapped when one fails. */
  async #run(item: QueueItem): Promise<void> {
    const { metrics, putPrimary, wake } = this.#host;
    const { value: states, isOwn } = item;
    item.value = NOTHING;
    try {
      const pointers = await this.#map(states, item);
      metrics.mappedOut += pointers.length;
      for (const pointer of pointers) putPrimary(pointer, isOwn);
    } catch (thrown) {
      item.value = this.#merge(states, item.value, false);
      throw thrown;
    } finally {
      metrics.mappedIn++;
      wake();
    }
  }

  /** The primaries that the mapper gives for the states, each once. */
  async #map(states: readonly Metadata[], item: QueueItem): Promise<readonly Pointer[]> {
    const { controller, shared } = this.#host;
    const { map } = this.#mapping;
    const { ref, ...rest } = itemContext(shared, item);
    const pointers = new Map<string, Pointer>();
    for (const state of states) {
      const context = { ...rest, input: reduceMetadata(ref, state) };
      const mapped =
        map === undefined ? controller.mapInput?.(context as MapInputContext) : map(context.input, context);
      for (const given of (await mapped) ?? []) {
        const pointer = toPointer(given);
        pointers.set(formatPointer(pointer), pointer);
      }
    }
    return [...pointers.values()];
  }

  /** What is left to be mapped. When that is too much, all primaries are looked at in its place. */
  #merge(waiting: readonly Metadata[], states: readonly Metadata[], isCut: boolean): readonly Metadata[] {
    const all = states.reduce(withState, waiting);
    if (!isCut && all.length <= MAX_UNMAPPED) return all;
    this.#host.refill();
    return states.slice(-1);
  }
}

/** What a mapper gave, as an address of our own: whatever is behind its fields is asked once. */
function toPointer(given: Partial<Pointer> | null | undefined): Pointer {
  const { namespace, type, id } = given ?? {};
  if (typeof namespace === "string" && typeof type === "string" && typeof id === "string" && id !== "") {
    return { namespace, type, id };
  }
  throw new TypeError("a mapper gave something that is no reference to a resource; make them with Type.ref(id)");
}
