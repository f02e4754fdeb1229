import {
  definitionOf,
  META_NAMESPACE,
  META_OWNER,
  NamespaceType,
  ResourceDefinitionType,
  type AnyResourceType,
  type NamespaceSpec,
  type Resource,
  type ResourceDefinitionSpec,
} from "../resource/index.ts";
import type { CallOptions } from "./options.ts";
import type { State } from "./state.ts";

/** Describes namespaces to people and peers. No State asks it: namespaces work without. */
export class NamespaceRegistry {
  readonly #state: Pick<State, "create">;

  constructor(state: Pick<State, "create">) {
    this.#state = state;
  }

  /** @throws {StateError} `already_exists` when the namespace is registered. */
  register(name: string, description: string, options: CallOptions = {}): Promise<Resource<NamespaceSpec>> {
    return this.#state.create(NamespaceType.create(name, { description }), { ...options, owner: META_OWNER });
  }

  /** Registers the namespace in which the registries themselves write. */
  async registerDefault(options?: CallOptions): Promise<void> {
    await this.register(META_NAMESPACE, "What the system knows about its own types and namespaces.", options);
  }
}

/** Describes types to people and peers. No State asks it: types work without. */
export class ResourceRegistry {
  readonly #state: Pick<State, "create">;

  constructor(state: Pick<State, "create">) {
    this.#state = state;
  }

  /**
   * @throws {StateError} `invalid` when the type's name breaks the rules, see {@link definitionOf}: nothing is created;
   * `already_exists` when the type is registered.
   */
  async register(type: AnyResourceType, options: CallOptions = {}): Promise<Resource<ResourceDefinitionSpec>> {
    options.signal?.throwIfAborted();
    return this.#state.create(await definitionOf(type), { ...options, owner: META_OWNER });
  }

  /** Registers the types of the registries' own resources. */
  async registerDefault(options?: CallOptions): Promise<void> {
    await this.register(ResourceDefinitionType, options);
    await this.register(NamespaceType, options);
  }
}
