import { CastWatch, type Watch } from "../../state/index.ts";

/** A watch that says once when it has ended, however it ends. */
export class ClosingWatch<T> extends CastWatch<T> {
  readonly #onClose: () => void;
  #isOpen = true;

  constructor(inner: Watch<T>, onClose: () => void) {
    super(inner, (value) => value);
    this.#onClose = onClose;
  }

  override async next(): Promise<IteratorResult<T>> {
    try {
      const result = await super.next();
      if (result.done === true) this.#close();
      return result;
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  override return(): Promise<IteratorResult<T>> {
    this.#close();
    return super.return();
  }

  override [Symbol.asyncDispose](): PromiseLike<void> {
    this.#close();
    return super[Symbol.asyncDispose]();
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onClose();
  }
}
