import { onOneLine } from "../../internal/visible-text.ts";
import { WireReader } from "../../wire/index.ts";
import {
  createTombstone,
  kindOf,
  StateError,
  StateErrorCode,
  type Kind,
  type Resource,
  type Tombstone,
} from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import { GrpcError, Status } from "../../rpc/index.ts";
import { ERROR_CODE_TAG, EVENT_NUMBER } from "./event-encoder.ts";
import type { DecodeOptions, ResourceDecoder, ResourceParts } from "../../protobuf/index.ts";

const EVENT_TAG = 0x0a;
const RESOURCE_TAG = 0x0a;
const TYPE_TAG = 0x10;
const OLD_TAG = 0x1a;
const ERROR_TAG = 0x22;
const BOOKMARK_TAG = 0x2a;

const STATE_ERROR_CODES = Object.values(StateErrorCode);

/** More events in one message are refused: two bytes each would take a hundred. */
const MAX_EVENTS = 1_000_000;

const TYPES: ReadonlyMap<number, keyof typeof EVENT_NUMBER> = new Map(
  (Object.keys(EVENT_NUMBER) as (keyof typeof EVENT_NUMBER)[]).map((type) => [EVENT_NUMBER[type], type]),
);

/** An event of a type that a later version of the protocol has. It says nothing but how far the stream has come. */
export interface UnknownEvent {
  readonly type: "Unknown";
  readonly bookmark: Uint8Array | undefined;
}

/** Every event from the wire is one of these. Frozen, like all events. */
class ReceivedEvent {
  readonly type: EventType;
  readonly resource: Resource | Tombstone | undefined;
  readonly old: Resource | undefined;
  readonly error: Error | undefined;
  readonly #bookmark: Uint8Array | undefined;

  constructor(
    type: EventType,
    resource: Resource | Tombstone | undefined,
    old: Resource | undefined,
    error: Error | undefined,
    bookmark: Uint8Array | undefined,
  ) {
    this.type = type;
    this.resource = resource;
    this.old = old;
    this.error = error;
    this.#bookmark = bookmark;
    Object.freeze(this);
  }

  get bookmark(): Uint8Array | undefined {
    return this.#bookmark && new Uint8Array(this.#bookmark);
  }
}

/** Takes in the fields of one Event message. */
class EventParts {
  number = 0;
  resource: ResourceParts | undefined;
  old: ResourceParts | undefined;
  error: string | undefined;
  errorCode: string | undefined;
  bookmark: Uint8Array | undefined;

  read(reader: WireReader, resources: ResourceDecoder): void {
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === RESOURCE_TAG) this.resource = resources.read(reader, this.resource);
      else if (tag === TYPE_TAG) this.number = reader.int32();
      else if (tag === OLD_TAG) this.old = resources.read(reader, this.old);
      else if (tag === ERROR_TAG) this.error = reader.string();
      else if (tag === ERROR_CODE_TAG) this.errorCode = reader.string();
      else if (tag === BOOKMARK_TAG) this.bookmark = new Uint8Array(reader.bytes());
      else reader.skip(tag);
    }
    reader.leave(outer);
  }
}

/** Makes events of `WatchResponse` messages. */
export class EventDecoder {
  readonly #resources: ResourceDecoder;

  constructor(resources: ResourceDecoder) {
    this.#resources = resources;
  }

  /**
   * The events of a message, in order; the first message of a watch has none.
   *
   * @param kind - What is watched, which is what markers are about.
   * @throws {WireError} when the bytes are no message.
   * @throws {StateError} `invalid` for an event that lacks what its type needs, or has a resource that is none.
   */
  decode(bytes: Uint8Array, kind: Kind, options: DecodeOptions = {}): readonly (Event | UnknownEvent)[] {
    const reader = new WireReader(bytes);
    const events: (Event | UnknownEvent)[] = [];
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag !== EVENT_TAG) {
        reader.skip(tag);
        continue;
      }
      if (events.length === MAX_EVENTS) {
        throw new StateError("invalid", `a message may have at most ${MAX_EVENTS} events`);
      }
      const parts = new EventParts();
      parts.read(reader, this.#resources);
      events.push(this.#event(parts, kind, options));
    }
    return events;
  }

  /** Gives the event what its type has, and nothing else. */
  #event(parts: EventParts, kind: Kind, options: DecodeOptions): Event | UnknownEvent {
    const { bookmark } = parts;
    const type = TYPES.get(parts.number);
    switch (type) {
      case undefined:
        return Object.freeze({ type: "Unknown" as const, bookmark });
      case EventType.created: {
        const resource = this.#resources.resource(required(parts.resource, type, "a resource"), options);
        return new ReceivedEvent(type, resource, undefined, undefined, bookmark) as Event;
      }
      case EventType.updated: {
        const resource = this.#resources.resource(required(parts.resource, type, "a resource"), options);
        const old = this.#resources.resource(required(parts.old, type, "the old resource"), options);
        return new ReceivedEvent(type, resource, old, undefined, bookmark) as Event;
      }
      case EventType.destroyed: {
        const gone = this.#resources.resourceOrTombstone(required(parts.resource, type, "a resource"), options);
        return new ReceivedEvent(type, gone, undefined, undefined, bookmark) as Event;
      }
      case EventType.bootstrapped:
      case EventType.noop: {
        const marker = createTombstone({ ...kindOf(kind), id: "" });
        return new ReceivedEvent(type, marker, undefined, undefined, bookmark) as Event;
      }
      case EventType.errored: {
        return new ReceivedEvent(type, undefined, undefined, errorOf(parts), undefined) as Event;
      }
    }
  }
}

/** The error of a watch that failed: with its category, where the server says it. */
function errorOf({ error = "", errorCode }: EventParts): Error {
  const text = onOneLine(error.trim()) || "the watch failed without saying why";
  const code = STATE_ERROR_CODES.find((known) => known === errorCode);
  return code === undefined ? new GrpcError(Status.unknown, text) : new StateError(code, text);
}

function required(parts: ResourceParts | undefined, type: EventType, what: string): ResourceParts {
  if (parts === undefined) throw new StateError("invalid", `an event of type ${type} came without ${what}`);
  return parts;
}
