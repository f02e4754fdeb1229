import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import type { TypeRegistry } from "../../resource/index.ts";
import { wrapState, type CoreState, type State } from "../../state/index.ts";
import { EventEncoder } from "../messages/event-encoder.ts";
import { ResourceDecoder, ResourceEncoder } from "../../protobuf/index.ts";
import { admitBy, type Admit, type CallAccessRule } from "./access.ts";
import { WatchSlots } from "./watch-slots.ts";

export interface StateServiceOptions {
  readonly types: TypeRegistry;
  readonly access: CallAccessRule | undefined;
  readonly yaml: boolean | ((type: string) => boolean);
  readonly batchBytes: number;
  readonly batchEvents: number;
  readonly maxWatchesPerConnection: number;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "now" | "defer">;
}

/** What the methods of the service work with. */
export class StateService {
  readonly state: CoreState;
  /** For what a store need not offer itself. */
  readonly derived: State;
  readonly resources: ResourceEncoder;
  readonly events: EventEncoder;
  readonly decoder: ResourceDecoder;
  readonly admit: Admit;
  /** False when everything is allowed. */
  readonly hasRule: boolean;
  readonly watches: WatchSlots;
  readonly batchBytes: number;
  readonly logger: Logger;
  readonly #clock: Pick<Clock, "now" | "defer">;

  constructor(state: CoreState, options: StateServiceOptions) {
    this.state = state;
    this.derived = wrapState(state, { clock: options.clock });
    this.resources = new ResourceEncoder({ yaml: options.yaml });
    this.events = new EventEncoder(this.resources, {
      mostBytes: options.batchBytes,
      mostEvents: options.batchEvents,
    });
    this.decoder = new ResourceDecoder(options.types);
    this.admit = admitBy(options.access);
    this.hasRule = options.access !== undefined;
    this.#clock = options.clock;
    this.watches = new WatchSlots(options.maxWatchesPerConnection);
    this.batchBytes = options.batchBytes;
    this.logger = options.logger;
  }

  /** The present time, as resources have it. */
  now(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  /** Resolves in the next turn of the event loop. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#clock.defer(resolve));
  }
}
