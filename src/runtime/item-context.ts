import type { Clock } from "../clock/index.ts";
import type { ControllerState, Logger, ReducedMetadata } from "../controller/index.ts";
import type { Metadata, Pointer, Ref } from "../resource/index.ts";
import type { QueueItem } from "./queue-worker.ts";

/** What all items of one controller share. */
export interface SharedContext {
  readonly state: ControllerState;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a handler of one item gets. The logger, which few runs need, is made when it is first asked for. */
export class ItemContext implements SharedContext {
  readonly state: ControllerState;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly ref: Ref;
  readonly #shared: SharedContext;
  readonly #job: string;
  #log: Logger | undefined;

  constructor(shared: SharedContext, { lane, id }: QueueItem) {
    const { namespace, type } = lane.job.input;
    this.state = shared.state;
    this.signal = shared.signal;
    this.clock = shared.clock;
    this.ref = { namespace, type, id };
    this.#shared = shared;
    this.#job = lane.job.name;
  }

  get log(): Logger {
    return (this.#log ??= this.#shared.log.child({ ...this.ref, job: this.#job }));
  }
}

/** {@link ItemContext} of a map job. */
export class MapContextOfItem extends ItemContext {
  readonly input: ReducedMetadata;

  constructor(shared: SharedContext, item: QueueItem, metadata: Metadata) {
    super(shared, item);
    this.input = reduce(this.ref, metadata);
  }
}

function reduce({ namespace, type, id }: Pointer, { phase, labels, finalizers }: Metadata): ReducedMetadata {
  return { namespace, type, id, phase, labels, finalizersEmpty: finalizers.length === 0 };
}
