import http2, { type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { ServerStream, StreamEnd, StreamEvents } from "./http2.ts";
import type { HeaderFields } from "../metadata.ts";

const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR } = http2.constants;

/** The date header of a gRPC response is not read. */
const WITH_TRAILERS = Object.freeze({ waitForTrailers: true, sendDate: false });
const WITHOUT_BODY = Object.freeze({ endStream: true, sendDate: false });
const FINISHED: StreamEnd = Object.freeze({ kind: "finished" });

/** Where a stream of Node keeps ours. */
const OURS: unique symbol = Symbol("ours");

/**
 * A stream of Node that is ours. A dead one may be kept alive by Node's own native half until the next full garbage
 * collection: what is ours must not be, so the tie is cut at the end, and the listeners are the same for all streams.
 */
type OwnedStream = ServerHttp2Stream & { [OURS]?: NodeServerStream | undefined };

/** A request on `node:http2`. */
export class NodeServerStream implements ServerStream {
  readonly headers: HeaderFields;
  readonly #stream: ServerHttp2Stream;
  /** Kept, as a stream forgets its session when it is destroyed. */
  readonly #session: ServerHttp2Session;
  /** Who is told; for the listeners below. */
  events: StreamEvents | undefined;
  #trailers: HeaderFields | undefined;
  #writeDone: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, headers: HeaderFields, session: ServerHttp2Session) {
    this.headers = headers;
    this.#stream = stream;
    this.#session = session;
  }

  listen(events: StreamEvents): void {
    const stream: OwnedStream = this.#stream;
    stream[OURS] = this;
    this.events = events;
    stream.on("data", onData);
    stream.on("end", onEnd);
    stream.on("wantTrailers", onWantTrailers);
    stream.on("error", ignoreError);
    stream.on("close", onClose);
  }

  respond(headers: HeaderFields): void {
    if (this.#isOver()) return;
    this.#stream.respond(headers, WITH_TRAILERS);
  }

  write(bytes: Uint8Array, done: () => void): void {
    if (this.#isOver()) {
      done();
      return;
    }
    this.#writeDone = done;
    this.#stream.write(bytes, () => this.#written());
  }

  finish(bytes: Uint8Array | undefined, trailers: HeaderFields, done: () => void): void {
    this.#trailers = trailers;
    if (this.#isOver()) {
      done();
      return;
    }
    this.#writeDone = done;
    if (bytes === undefined) this.#stream.end();
    else this.#stream.end(bytes);
  }

  refuse(headers: HeaderFields): void {
    if (this.#isOver()) return;
    this.#trailers = headers;
    this.#stream.respond(headers, WITHOUT_BODY);
    if (!this.#stream.readableEnded) this.#stream.close(NGHTTP2_NO_ERROR);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  reset(code: number): void {
    this.#stream.close(code);
  }

  /** `respond()` and its like throw on a stream that is over. */
  #isOver(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  #written(): void {
    const done = this.#writeDone;
    this.#writeDone = undefined;
    done?.();
  }

  /** Node is ready for them: the last of the body has left. */
  sendTrailers(): void {
    this.#written();
    if (this.#isOver()) return;
    if (this.#trailers === undefined) this.#stream.close(NGHTTP2_INTERNAL_ERROR);
    else this.#stream.sendTrailers(this.#trailers);
  }

  /** The stream is over. */
  close(): void {
    this.events?.onClose(this.#end());
    this.#written();
  }

  #end(): StreamEnd {
    const { rstCode } = this.#stream;
    if (rstCode === NGHTTP2_NO_ERROR && this.#trailers !== undefined) return FINISHED;
    if (this.#session.destroyed) return { kind: "lost", reason: "the connection was lost" };
    return { kind: "reset", code: rstCode };
  }
}

function onData(this: OwnedStream, bytes: Uint8Array): void {
  this[OURS]?.events?.onData(bytes);
}

function onEnd(this: OwnedStream): void {
  this[OURS]?.events?.onEnd();
}

function onWantTrailers(this: OwnedStream): void {
  this[OURS]?.sendTrailers();
}

function onClose(this: OwnedStream): void {
  const ours = this[OURS];
  this[OURS] = undefined;
  ours?.close();
}

/** The code of a reset is what counts, and "close" follows in any case. */
function ignoreError(): void {}
