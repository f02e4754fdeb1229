/**
 * Wraps a live object (a descriptor, a connection) so that it can stand in a spec. It is shared, never copied: every
 * reader gets the very same object. It has no wire or JSON form, so it lives only in in-memory States.
 */
export class Handle<T extends object> {
  readonly #target: T;

  constructor(target: T) {
    this.#target = target;
    Object.freeze(this);
  }

  get target(): T {
    return this.#target;
  }

  /** The same object, or equal by the wrapped object's own `equals`. */
  equals(other: unknown): boolean {
    if (!(other instanceof Handle)) return false;
    const [mine, theirs]: [{ equals?: unknown }, unknown] = [this.#target, other.target];
    return mine === theirs || (typeof mine.equals === "function" && mine.equals(theirs) === true);
  }

  toJSON(): never {
    throw new TypeError("a handle wraps a live object and has no JSON form");
  }
}
