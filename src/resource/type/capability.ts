import { isSealed, sourceOf, type Resource } from "../resource.ts";
import { isTombstone, type Tombstone } from "../tombstone.ts";

declare const METHODS: unique symbol;

/**
 * Something that resources of several types can do, each in its own way: report their health, draw themselves. Types
 * provide it (`ResourceType.providing`), and the holder of any resource asks for it ({@link capabilityOf}).
 */
export interface Capability<Methods extends object> {
  readonly name: string;
  /** Exists only for the compiler. */
  readonly [METHODS]?: Methods;
}

class NamedCapability implements Capability<object> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    Object.freeze(this);
  }
}

/** A new capability. It is known by its identity; the name is for people. */
export function defineCapability<Methods extends object>(name: string): Capability<Methods> {
  return new NamedCapability(name);
}

/**
 * What `resource` can do, or undefined when its type does not provide it. The answer sees the resource as it is now:
 * ask again for a later version.
 *
 * @throws {TypeError} when `capability` was not made by {@link defineCapability}.
 */
export function capabilityOf<Methods extends object>(
  resource: Resource | Tombstone,
  capability: Capability<Methods>,
): Methods | undefined {
  if (!(capability instanceof NamedCapability)) throw new TypeError("a capability is made by defineCapability");
  if (isTombstone(resource) || !isSealed(resource)) return undefined;
  return sourceOf(resource)?.provisions?.get(capability)?.(resource) as Methods | undefined;
}
