import { WireError, WireReader, type WireWriter } from "../../wire/index.ts";
import { Rpc } from "../rpc.ts";

/** Full name of the method that opens a session, and the response header by which a server says that it has it. */
export const SESSION_PATH = "/homeostat.state.v1.Session/Open";
export const SESSION_HEADER = "homeostat-session";

const ID_TAG = 0x08;
const TIMEOUT_TAG = 0x10;
const CANCEL_TAG = 0x18;
const RESPONSE_TAG = 0x12;
const STATUS_TAG = 0x1a;

/** The calls that a session takes, and where their requests stand. Lists, watches and long waits are streams of their own. */
export type SessionRpc = (typeof Rpc)["get" | "create" | "update" | "destroy" | "teardown"];
const CALL_TAGS: Readonly<Record<SessionRpc, number>> = {
  [Rpc.get]: 0x22,
  [Rpc.create]: 0x2a,
  [Rpc.update]: 0x32,
  [Rpc.destroy]: 0x3a,
  [Rpc.teardown]: 0x42,
};

const CALLS: ReadonlyMap<number, SessionRpc> = new Map(
  Object.entries(CALL_TAGS).map(([rpc, tag]) => [tag, rpc as SessionRpc]),
);

export const isSessionRpc = (rpc: Rpc): rpc is SessionRpc => Object.hasOwn(CALL_TAGS, rpc);

/** A request on a session. */
export interface SessionRequest {
  readonly id: number;
  /** Unit: milliseconds; 0 for no limit. */
  readonly timeoutMs: number;
  readonly call: SessionRpc | "cancel";
  /** The request message of the call: a view, copy what is kept. */
  readonly message: Uint8Array;
}

/** A response on a session: a message, or a status as an encoded `google.rpc.Status`. Both are views. */
export interface SessionResponse {
  readonly id: number;
  readonly response?: Uint8Array | undefined;
  readonly status?: Uint8Array | undefined;
}

const NO_BYTES = new Uint8Array(0);

export function writeSessionRequest(writer: WireWriter, { id, timeoutMs, call, message }: SessionRequest): void {
  writeId(writer, id);
  if (timeoutMs > 0) writer.uint32Field(TIMEOUT_TAG, timeoutMs);
  if (call === "cancel") writer.uint32Field(CANCEL_TAG, 1);
  else writer.bytesField(CALL_TAGS[call], message);
}

/** @throws {WireError} for bytes that are no request, without an id in range, or with other than one call. */
export function readSessionRequest(bytes: Uint8Array): SessionRequest {
  const reader = new WireReader(bytes);
  let [id, timeoutMs, calls] = [0, 0, 0];
  let call: SessionRequest["call"] = "cancel";
  let message: Uint8Array = NO_BYTES;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const rpc = CALLS.get(tag);
    if (tag === ID_TAG) id = reader.int64();
    else if (tag === TIMEOUT_TAG) timeoutMs = reader.uint32();
    else if (tag === CANCEL_TAG || rpc !== undefined) {
      calls++;
      call = rpc ?? "cancel";
      if (rpc !== undefined) message = reader.bytes();
      else if (!reader.bool()) throw new WireError("malformed session request: cancel must be true");
    } else reader.skip(tag);
  }
  if (calls !== 1) throw new WireError(`malformed session request: it has ${calls} calls that are known here, not one`);
  return { id: checkId(id), timeoutMs, call, message };
}

export function writeSessionResponse(writer: WireWriter, { id, response, status }: SessionResponse): void {
  writeId(writer, id);
  if (status !== undefined) writer.bytesField(STATUS_TAG, status);
  else writer.bytesField(RESPONSE_TAG, response ?? NO_BYTES);
}

/** @throws {WireError} for bytes that are no response, or without an id in range. */
export function readSessionResponse(bytes: Uint8Array): SessionResponse {
  const reader = new WireReader(bytes);
  let id = 0;
  let response: Uint8Array | undefined;
  let status: Uint8Array | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === ID_TAG) id = reader.int64();
    else if (tag === RESPONSE_TAG) response = reader.bytes();
    else if (tag === STATUS_TAG) status = reader.bytes();
    else reader.skip(tag);
  }
  if (response === undefined && status === undefined) {
    throw new WireError("malformed session response: it has neither a response nor a status");
  }
  return { id: checkId(id), response, status };
}

function writeId(writer: WireWriter, id: number): void {
  writer.uint32(ID_TAG);
  writer.int64(id);
}

function checkId(id: number): number {
  if (Number.isSafeInteger(id) && id > 0) return id;
  throw new WireError(`malformed session message: its id must be a whole number from 1 to 2^53 - 1, got ${id}`);
}
