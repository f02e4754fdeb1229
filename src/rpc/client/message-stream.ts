import { type ClientCallBounds, type ClientCallHost, ClientCall } from "./client-call.ts";
import { frameMessages } from "../message-frame.ts";

/** From here on the server is made to wait until the messages are taken. Unit: bytes. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * The messages of a server stream. A reader that stops makes the server stop: no more than the window of the stream
 * (1 MiB) and one message gather here. Leaving the loop, disposing it, or {@link cancel} tells the server at once.
 * One reader at a time.
 */
export interface MessageStream extends AsyncIterable<Uint8Array>, AsyncDisposable {
  /**
   * All messages that are there, at least one: waits for it. Undefined after the last one. Faster than the loop where
   * messages are small and many. They may share memory with others: copy what is kept.
   *
   * @throws {GrpcError} When the call ended with another status than OK, once all messages before it are read; the
   *   signal's reason when that ended it.
   */
  read(): Promise<readonly Uint8Array[] | undefined>;
  /** Ends the call, if it is not over. Messages that were not read are dropped. */
  cancel(): void;
}

/** A call that is answered with many messages. */
export class MessageStreamCall extends ClientCall implements MessageStream {
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #paused = false;
  #failure: { readonly reason: unknown } | undefined;
  #dropped = false;
  #reader: PromiseWithResolvers<readonly Uint8Array[] | undefined> | undefined;

  /** @param messages - Those of the request. */
  constructor(path: string, messages: readonly Uint8Array[], bounds: ClientCallBounds, host: ClientCallHost) {
    super(path, frameMessages(messages), bounds, host);
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#reader !== undefined) return Promise.reject(new Error("the stream is being read already"));
    if (this.#queue.length > 0) return Promise.resolve(this.#take());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason);
    if (this.isOver) return Promise.resolve(undefined);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  cancel(): void {
    this.#dropped = true;
    this.#queue = [];
    this.abort(undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    let batch: readonly Uint8Array[] | undefined = [];
    let next = 0;
    return {
      next: async () => {
        if (batch !== undefined && next === batch.length) {
          batch = await this.read();
          next = 0;
        }
        const value = batch?.[next++];
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: async () => {
        this.cancel();
        return { done: true, value: undefined };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
  }

  protected onMessages(messages: Uint8Array[]): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve(messages);
      return;
    }
    for (const message of messages) {
      this.#queue.push(message);
      this.#queuedBytes += message.length;
    }
    if (this.#queuedBytes < HIGH_WATER_BYTES || this.#paused) return;
    this.#paused = true;
    this.stream?.pause();
  }

  protected onStatus(): void {
    // Messages may still come: the end of the stream is what counts.
  }

  protected onDone(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.resolve(undefined);
  }

  protected onFailed(reason: unknown): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (this.#dropped) {
      reader?.resolve(undefined);
      return;
    }
    this.#failure = { reason };
    reader?.reject(reason);
  }

  #take(): readonly Uint8Array[] {
    const messages = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.stream?.resume();
    }
    return messages;
  }
}
