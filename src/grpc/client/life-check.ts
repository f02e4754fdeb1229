import { assertSameLife, lifeOf, momentOf, type Pointer } from "../../resource/index.ts";
import { GrpcError, Status } from "../../rpc/index.ts";
import { encodePointerRequest } from "../messages/pointer-request.ts";
import type { TeardownResponse } from "../messages/teardown-response.ts";
import { Rpc } from "../rpc.ts";
import type { RemoteCalls } from "./remote-calls.ts";

/**
 * Sees to it that a call about one life does not hit the next. A server that compares lives says so in its answers; on
 * any other the resource is read first. Between that read and the call another life can begin: such a server cannot do
 * both at once.
 */
export class LifeCheck {
  readonly #calls: RemoteCalls;
  #serverCompares = false;

  constructor(calls: RemoteCalls) {
    this.#calls = calls;
  }

  /**
   * Resolves to the life that the call has to name; undefined for none.
   *
   * @throws {StateError} `version_conflict` when another life is at the address, `not_found` when there is none;
   *   `invalid` when what `pointer` names is no time.
   */
  async before(pointer: Pointer, signal: AbortSignal | undefined): Promise<string | undefined> {
    const life = lifeOf(pointer);
    if (life !== undefined) momentOf(life);
    if (life !== undefined && !this.#serverCompares) await this.#compare(pointer, signal);
    return life;
  }

  after({ comparedLife }: TeardownResponse): void {
    if (comparedLife) this.#serverCompares = true;
  }

  /** The next server may be another. */
  disconnected(): void {
    this.#serverCompares = false;
  }

  async #compare(pointer: Pointer, signal: AbortSignal | undefined): Promise<void> {
    try {
      const request = encodePointerRequest(pointer);
      const current = await this.#calls.unary(Rpc.get, pointer, request, signal, this.#calls.readResource);
      assertSameLife(pointer, current.metadata);
    } catch (error) {
      // Who may not read may destroy nevertheless.
      if (!(error instanceof GrpcError && error.code === Status.permissionDenied)) throw error;
    }
  }
}
