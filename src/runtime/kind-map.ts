import type { Kind } from "../resource/index.ts";

/** A map from (namespace, type). Finding something makes no new text. */
export class KindMap<T> {
  readonly #byType = new Map<string, Map<string, T>>();

  get(namespace: string, type: string): T | undefined {
    return this.#byType.get(type)?.get(namespace);
  }

  set({ namespace, type }: Kind, value: T): void {
    const byNamespace = this.#byType.get(type);
    if (byNamespace === undefined) this.#byType.set(type, new Map([[namespace, value]]));
    else byNamespace.set(namespace, value);
  }

  /** What is there for the kind, or else what `make` makes. */
  ensure(kind: Kind, make: () => T): T {
    const present = this.get(kind.namespace, kind.type);
    if (present !== undefined) return present;
    const made = make();
    this.set(kind, made);
    return made;
  }

  *entries(): Generator<[Kind, T]> {
    for (const [type, byNamespace] of this.#byType) {
      for (const [namespace, value] of byNamespace) yield [{ namespace, type }, value];
    }
  }

  *values(): Generator<T> {
    for (const byNamespace of this.#byType.values()) yield* byNamespace.values();
  }
}
