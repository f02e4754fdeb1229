import type { Kind } from "../resource/index.ts";

/** What a call is about: a kind, or one resource of it. */
export type CallTarget = Kind & { readonly id?: string | undefined };

/** Calls that are kept for the next ones. */
const MAX_POOLED = 64;

/** One call that has not settled. Calls are pooled: noting one must cost next to nothing. */
class PendingCall {
  operation = "";
  target: CallTarget | undefined;
  readonly settled: () => void;

  constructor(onSettled: (call: PendingCall) => void) {
    this.settled = () => onSettled(this);
  }
}

/** The calls of one controller that the State, or a cache, has not answered, for the report of a stop that hangs. */
export class PendingCalls {
  readonly #open = new Set<PendingCall>();
  readonly #pooled: PendingCall[] = [];

  /** Notes a call until it settles, and gives it back. */
  note<T>(operation: string, target: CallTarget, answer: Promise<T>): Promise<T> {
    const call = this.#pooled.pop() ?? new PendingCall(this.#settled);
    call.operation = operation;
    call.target = target;
    this.#open.add(call);
    answer.then(call.settled, call.settled);
    return answer;
  }

  /** Each as `get of Services.example.dev(default/web)`, oldest first. */
  describe(): readonly string[] {
    return [...this.#open].map(({ operation, target }) => {
      const { namespace, type, id } = target ?? { namespace: "", type: "", id: undefined };
      return `${operation} of ${type}(${namespace}${id === undefined || id === "" ? "" : `/${id}`})`;
    });
  }

  readonly #settled = (call: PendingCall): void => {
    this.#open.delete(call);
    call.target = undefined;
    if (this.#pooled.length < MAX_POOLED) this.#pooled.push(call);
  };
}
