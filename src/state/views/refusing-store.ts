import type { CoreState } from "../core-state.ts";

/** A store in whose place only an error stands: every operation rejects with it. */
export class RefusingStore implements CoreState {
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  get(): Promise<never> {
    return this.#refuse();
  }

  getOrNull(): Promise<never> {
    return this.#refuse();
  }

  list(): Promise<never> {
    return this.#refuse();
  }

  create(): Promise<never> {
    return this.#refuse();
  }

  update(): Promise<never> {
    return this.#refuse();
  }

  destroy(): Promise<never> {
    return this.#refuse();
  }

  watch(): Promise<never> {
    return this.#refuse();
  }

  watchKind(): Promise<never> {
    return this.#refuse();
  }

  watchKindBatches(): Promise<never> {
    return this.#refuse();
  }

  #refuse(): Promise<never> {
    return Promise.reject(this.#error as Error);
  }
}
