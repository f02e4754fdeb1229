import type { Event } from "../../state/index.ts";
import { knownEvents, type EventEncoder } from "../messages/event-encoder.ts";
import { EMPTY_MESSAGE } from "../messages/teardown-response.ts";
import type { ServerStreamCall } from "../../rpc/index.ts";
import type { StateService } from "./state-service.ts";
import type { WatchSlots } from "./watch-slots.ts";

/** How a client wants its events. */
export interface WatchForm {
  readonly apiVersion: number;
  /** Many events may come in one message; else each message has one. */
  readonly aggregated: boolean;
}

/** What the watches of one connection may have on their way out in large messages, together. Unit: bytes. */
const CONNECTION_BYTES = 8 * 1024 * 1024;
/** Messages are not made smaller than this for it. Unit: bytes. */
const MIN_BYTES = 8 * 1024;

/** About what an event takes that is kept for one watch alone, as those of the first contents are. Unit: bytes. */
const EVENT_BYTES = 128;

type WatchService = Pick<StateService, "events" | "watches" | "batchBytes">;

/** Sends events to a client, in the form it asked for, and no faster than it takes them. */
export class WatchStream {
  readonly #call: ServerStreamCall;
  readonly #events: EventEncoder;
  readonly #form: WatchForm;
  readonly #slots: WatchSlots;
  readonly #batchBytes: number;

  constructor(call: ServerStreamCall, { events, watches, batchBytes }: WatchService, form: WatchForm) {
    this.#call = call;
    this.#events = events;
    this.#slots = watches;
    this.#batchBytes = batchBytes;
    this.#form = form;
  }

  /** Tells the client that from now on it misses nothing. Clients pass over this message unread. */
  start(): void {
    this.#call.send(EMPTY_MESSAGE);
  }

  /** A promise when the client has to catch up before there is room for more, or for this. */
  send(batch: readonly Event[]): Promise<void> | undefined {
    return this.#call.hasRoom ? this.#sendNow(batch) : this.#sendLater(batch);
  }

  /** Nothing is encoded before there is room; meanwhile the events count as what they take. */
  async #sendLater(batch: readonly Event[]): Promise<void> {
    this.#call.hold(batch.length * EVENT_BYTES);
    try {
      await this.#call.drained();
      await this.#sendNow(batch);
    } finally {
      this.#call.hold(0);
    }
  }

  #sendNow(batch: readonly Event[]): Promise<void> | undefined {
    const known = knownEvents(batch, this.#form.apiVersion);
    const [first] = known;
    if (known.length === 1 && first !== undefined) return this.#sendOne(this.#events.encode(first));
    if (!this.#form.aggregated) {
      return this.#sendAll(
        known.values().map((event) => this.#events.encode(event)),
        known.length,
      );
    }
    return known.length === 0
      ? this.#sendOne(EMPTY_MESSAGE)
      : this.#sendAll(this.#events.encodeBatch(known, this.#mostBytes()), known.length);
  }

  async #sendAll(messages: Iterable<Uint8Array>, events: number): Promise<void> {
    this.#call.hold(events * EVENT_BYTES);
    try {
      for (const message of messages) {
        const drained = this.#sendOne(message);
        if (drained !== undefined) await drained;
      }
    } finally {
      this.#call.hold(0);
    }
  }

  /** Each stream may hold a message or two that its client does not take: with many streams, they must be smaller. */
  #mostBytes(): number {
    const share = Math.floor(CONNECTION_BYTES / this.#slots.countOf(this.#call.peer));
    return Math.min(this.#batchBytes, Math.max(MIN_BYTES, share));
  }

  #sendOne(message: Uint8Array): Promise<void> | undefined {
    return this.#call.send(this.#events.framed(message)) ? undefined : this.#call.drained();
  }
}
