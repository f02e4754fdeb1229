import type { ClientStream } from "../http2/http2.ts";
import type { ClientCall } from "./client-call.ts";
import type { UnreadBytes } from "./unread-bytes.ts";

const NO_BYTES = new Uint8Array(0);

/** A part of this size of what may be unread is sent at once of a body. */
const PIECES = 3;

/** A body of which the rest has to be sent. */
interface OpenBody {
  readonly stream: ClientStream;
  sentBytes: number;
}

/** The bodies of requests that are too large to be sent at once. They take turns, a piece each. */
export class RequestBodies {
  /** Largest piece of a body that is sent at once. Unit: bytes. */
  readonly pieceBytes: number;
  readonly #unread: UnreadBytes;
  readonly #open = new Map<ClientCall, OpenBody>();
  /** Those of requests that go on, whether or not there is more of them now. */
  readonly #goingOn = new Map<ClientCall, OpenBody>();

  constructor(unread: UnreadBytes) {
    this.#unread = unread;
    this.pieceBytes = Math.floor(unread.limitBytes / PIECES);
  }

  /** The rest of a call's request is to be sent when there is room. */
  add(call: ClientCall, stream: ClientStream, sentBytes: number): void {
    const body = { stream, sentBytes };
    this.#open.set(call, body);
    if (call.isOpenEnded) this.#goingOn.set(call, body);
    if (this.#open.size === 1) this.sendMore();
  }

  /** There is more of a request that goes on. */
  resume(call: ClientCall): void {
    const body = this.#goingOn.get(call);
    if (body === undefined) return;
    this.#open.set(call, body);
    if (this.#open.size === 1) this.sendMore();
  }

  delete(call: ClientCall): void {
    this.#open.delete(call);
    this.#goingOn.delete(call);
  }

  /** Sends a piece of each body, as long as there is room. */
  sendMore(): void {
    for (const [call, body] of this.#open) {
      if (call.isOpenEnded) {
        if (!this.#sendSome(call, body)) return;
      } else if (!this.#sendPiece(call, body)) return;
    }
  }

  /** A piece of a request that goes on, if it has one now. False when there is no room. */
  #sendSome(call: ClientCall, body: OpenBody): boolean {
    const bytes = call.moreBytes(this.pieceBytes);
    if (bytes > 0 && !this.#unread.hasRoom(bytes)) return false;
    this.#open.delete(call);
    const piece = call.takeMore(this.pieceBytes, (count) => this.#unread.add(count));
    if (piece === undefined) return true;
    body.stream.write(piece, false);
    if (call.moreBytes(1) > 0) this.#open.set(call, body);
    return true;
  }

  /** The next piece of a body, or its last. False when there is no room. */
  #sendPiece(call: ClientCall, body: OpenBody): boolean {
    const { request } = call;
    const from = body.sentBytes;
    const to = Math.min(request.length, from + this.pieceBytes);
    if (!this.#unread.hasRoom(to - from)) return false;
    this.#unread.add(to - from);
    body.sentBytes = to;
    const isLast = to === request.length;
    // The next turn is another body's.
    this.#open.delete(call);
    if (isLast) call.request = NO_BYTES;
    else this.#open.set(call, body);
    body.stream.write(request.subarray(from, to), isLast);
    return true;
  }
}
