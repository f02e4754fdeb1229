import type { Kind } from "../../resource/index.ts";
import {
  ForwardingState,
  type Address,
  type CallOptions,
  type CoreState,
  type ForwardedOperation,
} from "../../state/index.ts";

/** A State in which some kinds are those of another. Disposing it disposes neither. */
export class MountedState extends ForwardingState {
  readonly #base: CoreState;
  readonly #mounted: CoreState;
  readonly #isMounted: (kind: Kind) => boolean;

  /** @param mounted - Offers at least the shortcuts that `base` does. */
  constructor(base: CoreState, mounted: CoreState, isMounted: (kind: Kind) => boolean) {
    super(base);
    this.#base = base;
    this.#mounted = mounted;
    this.#isMounted = isMounted;
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    return operation.run(this.#isMounted(address) ? this.#mounted : this.#base, target, options);
  }
}
