import type { AnyResourceType } from "../resource/index.ts";

/** How a controller writes a type: see the constants of the same name. */
export const OutputKind = {
  /** The controller is the only writer of the type, in any namespace. */
  exclusive: "exclusive",
  /** Several controllers write the type; each only the resources that it owns. */
  shared: "shared",
} as const;
export type OutputKind = (typeof OutputKind)[keyof typeof OutputKind];

/** A declaration that a controller writes a type. The namespace does not matter. */
export interface Output<R extends AnyResourceType = AnyResourceType, K extends OutputKind = OutputKind> {
  readonly kind: K;
  readonly resource: R;
}

/** An output that no other controller may declare. */
export const exclusive = <const R extends AnyResourceType>(resource: R): Output<R, "exclusive"> =>
  Object.freeze({ kind: OutputKind.exclusive, resource });

/** An output that other controllers may declare too, each for resources of its own. */
export const shared = <const R extends AnyResourceType>(resource: R): Output<R, "shared"> =>
  Object.freeze({ kind: OutputKind.shared, resource });
