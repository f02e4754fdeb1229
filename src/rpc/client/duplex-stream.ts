import type { ClientCallBounds, ClientCallHost } from "./client-call.ts";
import { frameMessages } from "../message-frame.ts";
import { type MessageStream, MessageStreamCall } from "./message-stream.ts";

/** From here on there is no room for more until some has been sent. Unit: bytes. */
const HIGH_WATER_BYTES = 64 * 1024;

const NO_BYTES = new Uint8Array(0);

/** Messages both ways. What is sent waits here until the server can read it. */
export interface DuplexStream extends MessageStream {
  /** Resolves when the server has accepted the call; rejects with what ended it before. */
  readonly opened: Promise<void>;
  /** Whether to send more now: what waits is bounded by asking first. */
  readonly hasRoom: boolean;
  /** Sends a message; what one turn of the event loop sends travels together. Returns the position behind it. */
  send(message: Uint8Array): number;
  /** Tells that the server has read everything up to this position, as it has answered it. */
  acknowledge(position: number): void;
  /** Calls `listener` whenever everything that waited has been sent. At most one listener. */
  onDrain(listener: () => void): void;
}

/** Where a piece ends in what this call has sent, and in what its connection has. */
interface SentPiece {
  readonly end: number;
  readonly linkPosition: number;
}

/** A call whose request goes on while its response comes. */
export class DuplexStreamCall extends MessageStreamCall implements DuplexStream {
  readonly #opened: PromiseWithResolvers<void> = Promise.withResolvers();
  #frames: Uint8Array[] = [];
  #waitingBytes = 0;
  /** All that was given to {@link send}, and how much of it was sent. Unit: bytes. */
  #end = 0;
  #sentBytes = 0;
  #unread: SentPiece[] = [];
  #isScheduled = false;
  #listener: (() => void) | undefined;

  constructor(path: string, bounds: ClientCallBounds, host: ClientCallHost) {
    super(path, [], bounds, host);
    // Who does not wait for it hears of the failure when reading.
    this.#opened.promise.catch(() => {});
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  override get isOpenEnded(): boolean {
    return true;
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < HIGH_WATER_BYTES;
  }

  send(message: Uint8Array): number {
    const frame = frameMessages([message]);
    this.#end += frame.length;
    if (this.isOver) return this.#end;
    this.#frames.push(frame);
    this.#waitingBytes += frame.length;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      process.nextTick(() => {
        this.#isScheduled = false;
        if (!this.isOver) this.link?.sendMore(this);
      });
    }
    return this.#end;
  }

  acknowledge(position: number): void {
    const read = this.#unread.findLastIndex(({ end }) => end <= position);
    if (read < 0) return;
    const linkPosition = this.#unread[read]?.linkPosition ?? 0;
    this.#unread = this.#unread.slice(read + 1);
    this.link?.heard(linkPosition);
  }

  onDrain(listener: () => void): void {
    this.#listener = listener;
  }

  override moreBytes(maxBytes: number): number {
    return Math.min(maxBytes, this.#waitingBytes);
  }

  override takeMore(maxBytes: number, position: (bytes: number) => number): Uint8Array | undefined {
    if (this.#waitingBytes === 0) return undefined;
    const waiting = this.#frames.length === 1 ? this.#frames[0] : Buffer.concat(this.#frames);
    const piece = waiting?.subarray(0, maxBytes) ?? new Uint8Array(0);
    const rest = waiting?.subarray(piece.length);
    this.#frames = rest === undefined || rest.length === 0 ? [] : [rest];
    this.#waitingBytes -= piece.length;
    this.#sentBytes += piece.length;
    this.#unread.push({ end: this.#sentBytes, linkPosition: position(piece.length) });
    if (this.#waitingBytes === 0) this.#listener?.();
    return piece;
  }

  override onEnd(): void {
    const wasOver = this.isOver;
    super.onEnd();
    // The response is complete, and nothing more is sent: a stream with one open half holds up the server's shutdown.
    if (!wasOver && this.isOver) this.stream?.write(NO_BYTES, true);
  }

  protected override onOpened(): void {
    this.#opened.resolve();
  }

  protected override onDone(): void {
    this.#opened.resolve();
    super.onDone();
  }

  protected override onFailed(reason: unknown): void {
    this.#opened.reject(reason);
    super.onFailed(reason);
  }
}
