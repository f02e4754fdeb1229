import type { Event } from "../../state/index.ts";
import { knownEvents, type EventEncoder } from "../messages/event-encoder.ts";
import { EMPTY_MESSAGE } from "../messages/teardown-response.ts";
import type { ServerStreamCall } from "../transport/index.ts";

/** How a client wants its events. */
export interface WatchForm {
  readonly apiVersion: number;
  /** Many events may come in one message; else each message has one. */
  readonly aggregated: boolean;
}

/** Sends events to a client, in the form it asked for, and no faster than it takes them. */
export class WatchStream {
  readonly #call: ServerStreamCall;
  readonly #events: EventEncoder;
  readonly #form: WatchForm;

  constructor(call: ServerStreamCall, events: EventEncoder, form: WatchForm) {
    this.#call = call;
    this.#events = events;
    this.#form = form;
  }

  /** Tells the client that from now on it misses nothing. Clients pass over this message unread. */
  start(): void {
    this.#call.send(EMPTY_MESSAGE);
  }

  /** Resolves when there is room for more. */
  async send(batch: readonly Event[]): Promise<void> {
    const known = knownEvents(batch, this.#form.apiVersion);
    if (!this.#form.aggregated) {
      for (const event of known) await this.#sendMessage(this.#events.encode(event));
    } else if (known.length === 0) {
      await this.#sendMessage(EMPTY_MESSAGE);
    } else {
      for (const message of this.#events.encodeBatch(known)) await this.#sendMessage(message);
    }
  }

  #sendMessage(message: Uint8Array): Promise<void> | undefined {
    return this.#call.send(message) ? undefined : this.#call.drained();
  }
}
