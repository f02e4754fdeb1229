import { createResource, formatPointer, type Pointer, type Resource } from "../../resource/index.ts";
import type { BackingStore } from "../../memory/index.ts";

/** A step that a {@link JsonBackingStore} is about to take. */
export interface StoreStep {
  readonly operation: "load" | "put" | "destroy";
  /** Of `put` and `destroy`. */
  readonly pointer?: Pointer | undefined;
}

/**
 * A backing store for tests: keeps each resource as JSON text, so that what is loaded went through a real round trip
 * and shares nothing with what was put. Give the same store to another State, and it is a restart.
 */
export class JsonBackingStore implements BackingStore {
  readonly #texts = new Map<string, string>();
  /** Called before each step: what it throws or rejects with fails the step, what it waits for delays it. */
  before: ((step: StoreStep) => void | Promise<void>) | undefined;

  /** The stored texts, by `type(namespace/id)`. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  async load(handler: (resource: Resource) => void): Promise<void> {
    await this.before?.({ operation: "load" });
    for (const text of this.#texts.values()) {
      const { metadata, spec } = JSON.parse(text) as Resource;
      handler(createResource(metadata, spec));
    }
  }

  async put(resource: Resource): Promise<void> {
    const { metadata, spec } = resource;
    await this.before?.({ operation: "put", pointer: metadata });
    this.#texts.set(formatPointer(metadata), JSON.stringify({ metadata, spec }));
  }

  async destroy(pointer: Pointer): Promise<void> {
    await this.before?.({ operation: "destroy", pointer });
    this.#texts.delete(formatPointer(pointer));
  }
}
