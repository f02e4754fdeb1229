import { WireReader } from "../../wire/index.ts";
import type { Kind } from "../../resource/index.ts";
import type { Query } from "../../state/index.ts";
import { encodeMessage } from "./encode-message.ts";
import { NAMESPACE_TAG, TYPE_TAG, writeKind } from "./pointer-request.ts";
import { QueryParts, writeQuery } from "./queries.ts";

const OPTIONS_TAG = 0x1a;
/** Tags of ListOptions. */
const LABELS_TAG = 0x0a;
const IDS_TAG = 0x12;

/** What a List request says. */
export interface ListRequest {
  readonly kind: Kind;
  readonly query: Query;
}

/** @throws {StateError} `invalid` for a query of the wrong shape. */
export function encodeListRequest(kind: Kind, query: Query = {}): Uint8Array {
  return encodeMessage((writer) => {
    writeKind(writer, kind);
    const options = writer.open(OPTIONS_TAG);
    writeQuery(writer, query, LABELS_TAG, IDS_TAG);
    writer.close(options);
  });
}

/**
 * Whether the pattern of ids compiles shows when the query is used.
 *
 * @throws {WireError}
 * @throws {GrpcError} UNIMPLEMENTED for an unknown operation on labels.
 * @throws {StateError} `invalid` for a query of unreasonable size.
 */
export function decodeListRequest(bytes: Uint8Array): ListRequest {
  const reader = new WireReader(bytes);
  const query = new QueryParts();
  let [namespace, type] = ["", ""];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAMESPACE_TAG) namespace = reader.string();
    else if (tag === TYPE_TAG) type = reader.string();
    else if (tag === OPTIONS_TAG) readOptions(reader, query);
    else reader.skip(tag);
  }
  return { kind: { namespace, type }, query: query.finish() };
}

function readOptions(reader: WireReader, query: QueryParts): void {
  const outer = reader.enter();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === LABELS_TAG) query.readLabelQuery(reader);
    else if (tag === IDS_TAG) query.readIdQuery(reader);
    else reader.skip(tag);
  }
  reader.leave(outer);
}
