import type { Clock } from "../../clock/index.ts";
import { silentLogger, type LogFields, type Logger } from "../../log/index.ts";
import type { ControllerState, ReducedMetadata } from "../../controller/index.ts";
import type { Metadata, Ref } from "../../resource/index.ts";
import type { QueueItem } from "./queue-worker.ts";

/** What all items of one controller share. */
export interface SharedContext {
  readonly state: ControllerState;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a handler of one item gets. */
export interface ItemContext extends SharedContext {
  readonly ref: Ref;
}

/** One object with properties of its own, so that a handler may take it apart in any way. */
export function itemContext({ state, log, signal, clock }: SharedContext, { kindQueue, id }: QueueItem): ItemContext {
  const { name, input } = kindQueue.job;
  const ref = { namespace: input.namespace, type: input.type, id };
  return { ref, state, signal, clock, log: log === silentLogger ? log : new ItemLogger(log, ref, name) };
}

export function reduceMetadata({ namespace, type, id }: Ref, { phase, labels, finalizers }: Metadata): ReducedMetadata {
  return { namespace, type, id, phase, labels, finalizersEmpty: finalizers.length === 0 };
}

/** A child of the controller's logger that is made when it is first used: few runs have anything to say. */
class ItemLogger implements Logger {
  readonly #parent: Logger;
  readonly #ref: Ref;
  readonly #job: string;
  #child: Logger | undefined;

  constructor(parent: Logger, ref: Ref, job: string) {
    this.#parent = parent;
    this.#ref = ref;
    this.#job = job;
  }

  debug(message: string, fields?: LogFields): void {
    this.#made().debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#made().info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#made().warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#made().error(message, fields);
  }

  child(fields: LogFields): Logger {
    return this.#made().child(fields);
  }

  #made(): Logger {
    return (this.#child ??= this.#parent.child({ ...this.#ref, job: this.#job }));
  }
}
