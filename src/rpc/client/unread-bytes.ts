/**
 * Counts what this end of a connection has sent and the other end may not have read, and keeps it below what a socket
 * holds.
 *
 * `node:http2` stops reading a connection while a write of its own is pending. Two Node ends that fill each other's
 * socket therefore wait for each other for ever, whatever they were sending. One end that never has a pending write is
 * enough to make that impossible: it reads, so the writes of the other end complete, so the other end reads. The client
 * is that end. What it sends is:
 *
 * - Requests: headers, body and, perhaps, a reset. Each passes here before it is given to HTTP/2, a large body in pieces.
 *   What was sent counts until the peer has shown that it read it: by the response to this request or a later one, or by
 *   acknowledging a SETTINGS frame that was sent after it.
 * - Frames that HTTP/2 sends by itself. A peer that does not read can make it send only a few: it acknowledges SETTINGS
 *   and PING frames, which peers send seldom, and returns windows by halves: of 1 MiB for a stream and 4 MiB for the
 *   connection, of which no more than the latter can be in use, that is about ten frames.
 *
 * Two things are counted too low, and both are bounded. The streams of one write are interleaved, so a response may come
 * while a part of that write, at most the limit, is unread. And a body that the peer's windows held back is sent when
 * they open: no more than these windows (64 KiB of our server; a window larger than the limit never holds back).
 *
 * A socket of Linux has room for 208 KiB as the kernel counts them, with 768 bytes for every write on top of its bytes;
 * twice the limit leaves 48 KiB for the rest. This does not depend on the peer's windows, on the number of calls, or on
 * what the peer sends.
 */
export class UnreadBytes {
  readonly #limitBytes: number;
  readonly #confirm: (done: () => void) => void;
  readonly #onRoom: () => void;
  /** All that was ever sent, and how much of it was read for sure. Unit: bytes. */
  #sentBytes = 0;
  #readBytes = 0;
  #confirming = false;
  /** True when something was refused. */
  #wanted = false;

  /**
   * @param limitBytes - What may be unread; a larger piece goes when nothing else is unread.
   * @param confirm - Calls back when the peer has read all that was sent before.
   * @param onRoom - Called when there may be room after {@link hasRoom} was false.
   */
  constructor(limitBytes: number, confirm: (done: () => void) => void, onRoom: () => void) {
    this.#limitBytes = limitBytes;
    this.#confirm = confirm;
    this.#onRoom = onRoom;
  }

  get limitBytes(): number {
    return this.#limitBytes;
  }

  /** Whether so much may be sent now. After false `onRoom` is called when it is time to ask again. */
  hasRoom(bytes: number): boolean {
    const unreadBytes = this.#sentBytes - this.#readBytes;
    if (unreadBytes === 0 || unreadBytes + bytes <= this.#limitBytes) return true;
    this.#wanted = true;
    this.#askPeer();
    return false;
  }

  /** So much is sent. Returns the position behind it, for {@link read}. */
  add(bytes: number): number {
    this.#sentBytes += bytes;
    return this.#sentBytes;
  }

  /** The peer has read what was sent up to this position. */
  read(position: number): void {
    if (position <= this.#readBytes) return;
    this.#readBytes = position;
    this.#offerRoom();
  }

  #offerRoom(): void {
    if (!this.#wanted) return;
    this.#wanted = false;
    this.#onRoom();
  }

  #askPeer(): void {
    if (this.#confirming) return;
    this.#confirming = true;
    const position = this.#sentBytes;
    this.#confirm(() => {
      this.#confirming = false;
      this.read(position);
      // What was sent and refused since then needs another confirmation: who still has no room asks for it.
      this.#offerRoom();
    });
  }
}
