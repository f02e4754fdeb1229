import type { Pointer } from "../../resource/index.ts";
import { wrapState, type DestroyOptions, type State } from "../../state/index.ts";
import { encodePointerRequest } from "../messages/pointer-request.ts";
import { decodeTeardownResponse, type TeardownResponse } from "../messages/teardown-response.ts";
import { Rpc } from "../rpc.ts";
import { isGrpcError, Status } from "../../rpc/index.ts";
import type { ResolvedClientOptions } from "./client-options.ts";
import { LifeCheck } from "./life-check.ts";
import { RemoteCalls } from "./remote-calls.ts";
import type { SessionChannel } from "./session-wire.ts";
import { RemoteOperations } from "./remote-operations.ts";

/**
 * A store behind a connection. What a server does not have, a teardown in one step, is composed of what every server
 * has; that a server lacks it is remembered until the connection is another.
 */
export class RemoteState extends RemoteOperations {
  readonly #composed: State;
  readonly #lacking = new Set<Rpc>();

  constructor(channel: SessionChannel, options: ResolvedClientOptions) {
    const calls = new RemoteCalls(channel, options);
    const lives = new LifeCheck(calls);
    super(calls, lives, options.types);
    this.#composed = wrapState(new RemoteOperations(calls, lives, options.types), { clock: options.clock });
  }

  /** Number of watches that are not over. */
  get openWatches(): number {
    return this.calls.openWatches;
  }

  async teardown(pointer: Pointer, options: DestroyOptions = {}): Promise<boolean> {
    return this.#callOr(
      Rpc.teardown,
      pointer,
      options,
      ({ destroyReady }) => destroyReady,
      () => this.#composed.teardown(pointer, options),
    );
  }

  async teardownAndDestroy(pointer: Pointer, options: DestroyOptions = {}): Promise<void> {
    return this.#callOr(
      Rpc.teardownAndDestroy,
      pointer,
      options,
      () => undefined,
      () => this.#composed.teardownAndDestroy(pointer, options),
    );
  }

  /** There is no connection any more; on the next one the server may be another, or a newer one. */
  disconnected(): void {
    this.#lacking.clear();
    this.lives.disconnected();
  }

  /** There is a connection again. */
  reconnected(): void {
    this.calls.reconnected();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.calls.close();
  }

  async #callOr<T>(
    rpc: Rpc,
    pointer: Pointer,
    { owner, signal }: DestroyOptions,
    result: (response: TeardownResponse) => T,
    compose: () => Promise<T>,
  ): Promise<T> {
    if (this.#lacking.has(rpc)) return compose();
    const life = await this.lives.before(pointer, signal);
    const message = encodePointerRequest(pointer, owner, life);
    try {
      const response = await this.calls.unary(rpc, pointer, message, signal, decodeTeardownResponse);
      this.lives.after(response);
      return result(response);
    } catch (error) {
      if (!isGrpcError(error, Status.unimplemented)) throw error;
    }
    this.#lacking.add(rpc);
    return compose();
  }
}
