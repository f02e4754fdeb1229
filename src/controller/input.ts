import type { AnyResourceType, Dictionary, Phase, Pointer, Ref } from "../resource/index.ts";
import type { Logger } from "../log/index.ts";

/** What an input gives: the right to read always; the right to finalizers with `strong`, `primary` and `mapped`. */
export const InputKind = {
  /** Classic: wakes on every change. */
  weak: "weak",
  /** Classic: wakes on every change; the controller may put finalizers on it. */
  strong: "strong",
  /** Classic: wakes only when a resource is tearing down and has no finalizers left. */
  destroyReady: "destroyReady",
  /** Queue: every change queues the resource itself. */
  primary: "primary",
  /** Queue: every change is mapped to primaries, which are queued. */
  mapped: "mapped",
  /** Queue: as `mapped`, only when tearing down without finalizers. */
  mappedDestroyReady: "mappedDestroyReady",
} as const;
export type InputKind = (typeof InputKind)[keyof typeof InputKind];

/** A declaration that a controller reads a kind, or one resource of it, and wakes when it changes. */
export interface Input<R extends AnyResourceType = AnyResourceType, K extends InputKind = InputKind> {
  readonly kind: K;
  readonly resource: R;
  /** Only this resource. Default: all of the kind. */
  readonly id?: string | undefined;
}

/** All that the engine carries of a change: what it was is not told, since reconcilers look at what is. */
export interface ReducedMetadata extends Pointer {
  readonly phase: Phase;
  readonly labels: Dictionary;
  readonly finalizersEmpty: boolean;
}

/** What a mapper gets besides the change. */
export interface MapContext {
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Says which primaries a mapped input concerns. It is asked for what the input was before a change and for what it is now,
 * so that a primary that it leaves is looked at as well. A destroyed resource comes with its last metadata.
 */
export type Mapper<Target extends string = string> = (
  input: ReducedMetadata,
  context: MapContext,
) => Iterable<Ref<unknown, Target>> | Promise<Iterable<Ref<unknown, Target>>>;

/** An input whose changes are mapped to primaries: by its own mapper, else by the controller's `mapInput`. */
export interface MappedInput<
  R extends AnyResourceType = AnyResourceType,
  K extends "mapped" | "mappedDestroyReady" = "mapped" | "mappedDestroyReady",
  Target extends string = string,
> extends Input<R, K> {
  readonly map?: Mapper<Target> | undefined;
}

/** A classic input that wakes on every change. */
export const weak = <const R extends AnyResourceType>(resource: R, id?: string): Input<R, "weak"> =>
  Object.freeze({ kind: InputKind.weak, resource, id });

/** A classic input that wakes on every change, and whose resources may be held by finalizers. */
export const strong = <const R extends AnyResourceType>(resource: R, id?: string): Input<R, "strong"> =>
  Object.freeze({ kind: InputKind.strong, resource, id });

/** A classic input that wakes only when a resource is tearing down and has no finalizers left. */
export const destroyReady = <const R extends AnyResourceType>(resource: R, id?: string): Input<R, "destroyReady"> =>
  Object.freeze({ kind: InputKind.destroyReady, resource, id });

/** A queue input whose every change is mapped to the primaries that it concerns. */
export function mapped<const R extends AnyResourceType>(resource: R): MappedInput<R, "mapped", never>;
export function mapped<const R extends AnyResourceType, const Target extends string = never>(
  resource: R,
  map: Mapper<Target>,
): MappedInput<R, "mapped", NoInfer<Target>>;
export function mapped(resource: AnyResourceType, map?: Mapper): MappedInput {
  return Object.freeze({ kind: InputKind.mapped, resource, map });
}

/** As {@link mapped}, only for resources that are tearing down and have no finalizers left. */
export function mappedDestroyReady<const R extends AnyResourceType>(
  resource: R,
): MappedInput<R, "mappedDestroyReady", never>;
export function mappedDestroyReady<const R extends AnyResourceType, const Target extends string = never>(
  resource: R,
  map: Mapper<Target>,
): MappedInput<R, "mappedDestroyReady", NoInfer<Target>>;
export function mappedDestroyReady(resource: AnyResourceType, map?: Mapper): MappedInput {
  return Object.freeze({ kind: InputKind.mappedDestroyReady, resource, map });
}
