import { WireWriter } from "../../wire/index.ts";
import { StateError } from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import { FramedMessages, PREFIX_BYTES } from "../../rpc/index.ts";
import { contentOfField, type ResourceEncoder } from "../../protobuf/index.ts";

const EVENT_TAG = 0x0a;
/** Tags of the Event message; its field 1 is the resource. */
const TYPE_TAG = 0x10;
const OLD_TAG = 0x1a;
const ERROR_TAG = 0x22;
const BOOKMARK_TAG = 0x2a;
/** Of ours: see `error_code` in state.proto. */
export const ERROR_CODE_TAG: number = (1000 << 3) | 2;

/** Numbers of the types on the wire. */
export const EVENT_NUMBER: Readonly<Record<Exclude<EventType, "Resynced">, number>> = {
  Created: 0,
  Updated: 1,
  Destroyed: 2,
  Bootstrapped: 3,
  Errored: 4,
  Noop: 5,
};

/** Larger batches are not remembered: what many wait for at once is what happened in one turn. */
const MAX_SHARED = 1000;

/** From this size on a message for many goes out on all streams without a copy for each. Unit: bytes. */
const LARGE = 4096;

export interface EventEncoderOptions {
  /** A batch is split into messages of at most this size; a larger event goes alone. Unit: bytes. Default: 1 MiB. */
  readonly mostBytes?: number | undefined;
  /** A batch is split into messages of at most this many events. Default: 1000. */
  readonly mostEvents?: number | undefined;
}

/**
 * Makes `WatchResponse` messages of events. An event, and a batch, is encoded once for all who watch: States share the
 * very objects. The bytes are shared as well: never change them.
 */
export class EventEncoder {
  readonly #resources: ResourceEncoder;
  readonly #mostBytes: number;
  readonly #mostEvents: number;
  readonly #messages = new WeakMap<Event, Uint8Array>();
  readonly #batches = new WeakMap<readonly Event[], readonly Uint8Array[]>();
  readonly #frames = new WeakMap<Uint8Array, FramedMessages>();

  constructor(resources: ResourceEncoder, options: EventEncoderOptions = {}) {
    this.#resources = resources;
    this.#mostBytes = options.mostBytes ?? 1024 * 1024;
    this.#mostEvents = options.mostEvents ?? 1000;
  }

  /**
   * A message with this one event.
   *
   * @throws {StateError} `invalid` when a resource cannot be encoded; `unsupported` for `Resynced`, which is not in the
   *   protocol: open watches for peers with `overrun: "error"`.
   */
  encode(event: Event): Uint8Array {
    const known = this.#messages.get(event);
    if (known !== undefined) return known;
    const { bookmark } = event;
    const bytes = encodeEvent(this.#resources, event, bookmark);
    // What describes the contents at the start is made for one watch alone.
    if (bookmark === undefined) return bytes;
    const shared = this.#share(bytes);
    this.#messages.set(event, shared);
    return shared;
  }

  /**
   * The messages that carry a batch, in order. What is not shared is made when it is its turn: a batch may hold all
   * resources of a kind.
   *
   * @param mostBytes - A smaller size to split at.
   * @throws as {@link encode} does.
   */
  encodeBatch(events: readonly Event[], mostBytes: number = this.#mostBytes): Iterable<Uint8Array> {
    if (events.length === 0) return [];
    // Only what cannot change may be remembered.
    if (!Object.isFrozen(events) || events.length > MAX_SHARED) return this.#split(events, mostBytes);
    let messages = this.#batches.get(events);
    if (messages === undefined) {
      messages = [...this.#split(events, this.#mostBytes)].map((message) => this.#share(message));
      this.#batches.set(events, messages);
    }
    return messages.every(({ length }) => length <= mostBytes) ? messages : this.#split(events, mostBytes);
  }

  /** A message of this encoder as it is best sent. */
  framed(message: Uint8Array): Uint8Array | FramedMessages {
    return message.length < LARGE ? message : (this.#frames.get(message) ?? message);
  }

  #share(message: Uint8Array): Uint8Array {
    if (this.#frames.has(message)) return message;
    // What is kept must not keep the pool alive that it was written in.
    if (message.length < LARGE) return isView(message) ? new Uint8Array(message) : message;
    const framed = new FramedMessages([message]);
    const shared = framed.bytes.subarray(PREFIX_BYTES);
    this.#frames.set(shared, framed);
    return shared;
  }

  *#split(events: readonly Event[], mostBytes: number): Generator<Uint8Array> {
    let pending: Uint8Array[] = [];
    let bytes = 0;
    for (const event of events) {
      const encoded = this.encode(event);
      const isFull = pending.length === this.#mostEvents || bytes + encoded.length > mostBytes;
      if (isFull && pending.length > 0) {
        yield join(pending, bytes);
        [pending, bytes] = [[], 0];
      }
      pending.push(encoded);
      bytes += encoded.length;
    }
    if (pending.length > 0) yield join(pending, bytes);
  }
}

const isView = ({ byteLength, buffer }: Uint8Array): boolean => byteLength < buffer.byteLength;

/** Messages whose fields are repeated are merged by writing one behind the other. */
function join(messages: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = messages;
  if (messages.length === 1 && only !== undefined) return only;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const message of messages) {
    joined.set(message, at);
    at += message.length;
  }
  return joined;
}

function encodeEvent(resources: ResourceEncoder, event: Event, bookmark: Uint8Array | undefined): Uint8Array {
  if (event.type === EventType.resynced) {
    throw new StateError("unsupported", "an event of type Resynced has no form in the wire protocol");
  }
  const resource = event.resource && resources.encodeField(event.resource);
  const old = event.old && contentOfField(resources.encodeField(event.old));
  const writer = new WireWriter(Buffer.allocUnsafe((resource?.length ?? 0) + (old?.length ?? 0) + 128));
  const mark = writer.open(EVENT_TAG);
  if (resource !== undefined) writer.raw(resource);
  const number = EVENT_NUMBER[event.type];
  if (number !== 0) writer.uint32Field(TYPE_TAG, number);
  if (old !== undefined) writer.bytesField(OLD_TAG, old);
  if (event.error !== undefined) writer.stringField(ERROR_TAG, event.error.message.toWellFormed());
  if (bookmark !== undefined) writer.bytesField(BOOKMARK_TAG, bookmark);
  if (event.error instanceof StateError) writer.stringField(ERROR_CODE_TAG, event.error.code);
  writer.close(mark);
  return writer.take();
}

/** The events that a client of this version of the protocol knows; the same array when that is all of them. */
export function knownEvents(events: readonly Event[], apiVersion: number): readonly Event[] {
  const isKnown = ({ type }: Event): boolean => type !== EventType.bootstrapped && type !== EventType.errored;
  return apiVersion >= 1 || events.every(isKnown) ? events : events.filter(isKnown);
}
