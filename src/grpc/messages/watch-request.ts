import { WireReader, type WireWriter } from "../../wire/index.ts";
import type { Kind } from "../../resource/index.ts";
import type { Query } from "../../state/index.ts";
import { encodeMessage } from "./encode-message.ts";
import { ID_TAG, NAMESPACE_TAG, TYPE_TAG, writeKind } from "./pointer-request.ts";
import { QueryParts, writeQuery } from "./queries.ts";

const OPTIONS_TAG = 0x22;
const API_VERSION_TAG = 0x28;
/** Tags of WatchOptions. */
const BOOTSTRAP_CONTENTS_TAG = 0x08;
const TAIL_EVENTS_TAG = 0x10;
const LABELS_TAG = 0x1a;
const IDS_TAG = 0x22;
const AGGREGATED_TAG = 0x28;
const START_FROM_BOOKMARK_TAG = 0x32;
const BOOTSTRAP_BOOKMARK_TAG = 0x38;

/** From this version on a client knows all types of events. */
export const API_VERSION = 1;

/** Servers take a signed number of 32 bits. */
const MAX_TAIL_EVENTS = 2 ** 31 - 1;

/** How a watch starts, and what it sees. */
export interface WatchRequestOptions {
  /** The contents at the start. Default: false. */
  readonly bootstrap?: boolean | undefined;
  /** An event with the position at the start. Default: false. */
  readonly bootstrapBookmark?: boolean | undefined;
  /** That many past events first. Default: 0. */
  readonly tailEvents?: number | undefined;
  /** Everything after the event with this bookmark; an empty one is none that any event has. */
  readonly startFromBookmark?: Uint8Array | undefined;
  /** Several events may come in one message. Default: false. */
  readonly aggregated?: boolean | undefined;
}

/** What a Watch request says. */
export interface WatchRequest {
  readonly kind: Kind;
  /** Present, even when empty, for a watch of one resource. */
  readonly id: string | undefined;
  readonly query: Query;
  readonly options: WatchRequestOptions;
  /** Below {@link API_VERSION} the client knows neither BOOTSTRAPPED nor ERRORED. */
  readonly apiVersion: number;
}

/**
 * @param id - Makes it a watch of one resource.
 * @throws {StateError} `invalid` for a query of the wrong shape.
 */
export function encodeWatchRequest(
  kind: Kind,
  id: string | undefined,
  query: Query,
  options: WatchRequestOptions,
): Uint8Array {
  return encodeMessage((writer) => {
    writeKind(writer, kind);
    if (id !== undefined) writer.stringField(ID_TAG, id);
    const mark = writer.open(OPTIONS_TAG);
    writeOptions(writer, query, options);
    writer.close(mark);
    writer.uint32Field(API_VERSION_TAG, API_VERSION);
  });
}

function writeOptions(writer: WireWriter, query: Query, options: WatchRequestOptions): void {
  const { tailEvents = 0, startFromBookmark } = options;
  if (options.bootstrap === true) writer.uint32Field(BOOTSTRAP_CONTENTS_TAG, 1);
  if (tailEvents > 0) writer.uint32Field(TAIL_EVENTS_TAG, Math.min(tailEvents, MAX_TAIL_EVENTS));
  writeQuery(writer, query, LABELS_TAG, IDS_TAG);
  if (options.aggregated === true) writer.uint32Field(AGGREGATED_TAG, 1);
  if (startFromBookmark !== undefined) writer.bytesField(START_FROM_BOOKMARK_TAG, startFromBookmark);
  if (options.bootstrapBookmark === true) writer.uint32Field(BOOTSTRAP_BOOKMARK_TAG, 1);
}

/** @throws as `decodeListRequest` does. */
export function decodeWatchRequest(bytes: Uint8Array): WatchRequest {
  const reader = new WireReader(bytes);
  const options = new OptionParts();
  let [namespace, type, apiVersion] = ["", "", 0];
  let id: string | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAMESPACE_TAG) namespace = reader.string();
    else if (tag === TYPE_TAG) type = reader.string();
    else if (tag === ID_TAG) id = reader.string();
    else if (tag === OPTIONS_TAG) options.read(reader);
    else if (tag === API_VERSION_TAG) apiVersion = reader.int32();
    else reader.skip(tag);
  }
  return { kind: { namespace, type }, id, query: options.query.finish(), options: options.finish(), apiVersion };
}

class OptionParts {
  readonly query: QueryParts = new QueryParts();
  #bootstrap = false;
  #bootstrapBookmark = false;
  #aggregated = false;
  #tailEvents = 0;
  #startFromBookmark: Uint8Array | undefined;

  read(reader: WireReader): void {
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === BOOTSTRAP_CONTENTS_TAG) this.#bootstrap = reader.bool();
      else if (tag === TAIL_EVENTS_TAG) this.#tailEvents = reader.int32();
      else if (tag === LABELS_TAG) this.query.readLabelQuery(reader);
      else if (tag === IDS_TAG) this.query.readIdQuery(reader);
      else if (tag === AGGREGATED_TAG) this.#aggregated = reader.bool();
      else if (tag === START_FROM_BOOKMARK_TAG) this.#startFromBookmark = new Uint8Array(reader.bytes());
      else if (tag === BOOTSTRAP_BOOKMARK_TAG) this.#bootstrapBookmark = reader.bool();
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  finish(): WatchRequestOptions {
    return {
      bootstrap: this.#bootstrap,
      bootstrapBookmark: this.#bootstrapBookmark,
      tailEvents: Math.max(0, this.#tailEvents),
      startFromBookmark: this.#startFromBookmark,
      aggregated: this.#aggregated,
    };
  }
}
