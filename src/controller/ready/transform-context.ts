import type { Clock } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import type { AnyResourceType, CreateOrChange, Resource, SpecOf } from "../../resource/index.ts";
import type { ControllerState } from "../controller-state.ts";

/** A resource of a type. */
export type ResourceOf<R extends AnyResourceType> = Resource<SpecOf<R>, R["type"]>;

/** The state inside a ready-made controller, whose declarations the definition makes. */
export type AnyControllerState = ControllerState<AnyResourceType, AnyResourceType, AnyResourceType>;

/** What the functions of a ready-made controller get besides their resources. */
export interface ReadyContext<State> {
  /** Reads the input, the output and the extra inputs; writes the extra outputs. */
  readonly state: State;
  readonly log: Logger;
  /** Aborts when the runtime stops. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a `transform` gets. */
export interface TransformContext<
  In extends AnyResourceType,
  Out extends AnyResourceType,
  State,
> extends ReadyContext<State> {
  readonly input: ResourceOf<In>;
  /**
   * The output's spec, to change; an empty object when the output does not exist yet. What `transform` returns is taken
   * in its place.
   */
  readonly draft: Parameters<CreateOrChange<SpecOf<Out>>>[0];
  /** The output's metadata: labels, annotations and finalizers can be changed. */
  readonly metadata: Parameters<CreateOrChange<SpecOf<Out>>>[1];
}

/** What a `transform` returns: the output's spec, or nothing when it changed the draft. */
export type TransformResult<Out extends AnyResourceType> = ReturnType<CreateOrChange<SpecOf<Out>>>;

/** What a `finalize` gets. */
export interface FinalizeContext<In extends AnyResourceType, State> extends ReadyContext<State> {
  readonly input: ResourceOf<In>;
}

/** What a transforming controller needs, by name: a definition from plain JavaScript may lack any of it. */
export function checkDefinition(maker: string, definition: object, functions: readonly string[]): void {
  const parts = definition as Readonly<Record<string, unknown>>;
  if (typeof parts["name"] !== "string" || parts["name"] === "") {
    throw new TypeError(`${maker} needs a name: it owns the outputs and holds the inputs`);
  }
  for (const part of functions) {
    if (typeof parts[part] !== "function") throw new TypeError(`${maker} ${parts["name"]}: ${part} must be a function`);
  }
}

/** The id of an input's output; undefined when it has none. */
export const outputIdOf = (
  { map }: { readonly map?: ((input: Resource) => string | undefined) | undefined },
  input: Resource,
): string | undefined => (map === undefined ? input.metadata.id : map(input));
