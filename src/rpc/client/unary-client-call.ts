import { type ClientCallBounds, type ClientCallHost, ClientCall } from "./client-call.ts";
import { GrpcError } from "../grpc-error.ts";
import { frameMessages } from "../message-frame.ts";
import { Status } from "../status.ts";

/** A call that is answered with one message. */
export class UnaryClientCall extends ClientCall {
  readonly #resolve: (message: Uint8Array) => void;
  readonly #reject: (reason: unknown) => void;
  #message: Uint8Array | undefined;

  constructor(
    path: string,
    message: Uint8Array,
    bounds: ClientCallBounds,
    host: ClientCallHost,
    resolve: (message: Uint8Array) => void,
    reject: (reason: unknown) => void,
  ) {
    super(path, frameMessages([message]), bounds, host);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected onMessages(messages: Uint8Array[]): void {
    const [first] = messages;
    if (messages.length > 1 || this.#message !== undefined) {
      this.abort(new GrpcError(Status.unimplemented, `${this.path} answered with more than one message`));
    } else {
      this.#message = first;
    }
  }

  protected onStatus(status: GrpcError | "ok"): void {
    // The stream's own end takes another turn or two of the event loop.
    if (status !== "ok" || this.#message !== undefined) this.finishEarly(status);
  }

  protected onDone(): void {
    if (this.#message !== undefined) this.#resolve(this.#message);
    else this.#reject(new GrpcError(Status.unimplemented, `${this.path} answered without a message`));
  }

  protected onFailed(reason: unknown): void {
    this.#reject(reason);
  }
}
