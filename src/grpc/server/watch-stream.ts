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

  /** A promise when the client has to catch up before there is room for more. */
  send(batch: readonly Event[]): Promise<void> | undefined {
    const known = knownEvents(batch, this.#form.apiVersion);
    const [first] = known;
    if (known.length === 1 && first !== undefined) return this.#sendOne(this.#events.encode(first));
    if (!this.#form.aggregated) return this.#sendAll(known.values().map((event) => this.#events.encode(event)));
    return known.length === 0 ? this.#sendOne(EMPTY_MESSAGE) : this.#sendAll(this.#events.encodeBatch(known));
  }

  async #sendAll(messages: Iterable<Uint8Array>): Promise<void> {
    for (const message of messages) {
      const drained = this.#sendOne(message);
      if (drained !== undefined) await drained;
    }
  }

  #sendOne(message: Uint8Array): Promise<void> | undefined {
    return this.#call.send(message) ? undefined : this.#call.drained();
  }
}
