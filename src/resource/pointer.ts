/** Address of all resources of one type in one namespace. */
export interface Kind {
  readonly namespace: string;
  readonly type: string;
}

/** Address of one resource. Identity is the triple; comparisons are exact. */
export interface Pointer extends Kind {
  readonly id: string;
}

declare const SPEC: unique symbol;

/** A {@link Pointer} that knows, at compile time, the spec of what it points to. */
export interface Ref<Spec = unknown, Type extends string = string> extends Pointer {
  readonly type: Type;
  /** Exists only for the compiler. */
  readonly [SPEC]?: Spec;
}

/** `type(namespace/id)`: how a resource is named in finalizers and logs. */
export function formatPointer(pointer: Pointer): string {
  return `${pointer.type}(${pointer.namespace}/${pointer.id})`;
}

/** `type(namespace/id@version)`: how a resource is named in errors; one that is not stored has no version to show. */
export function formatReference(pointer: Pointer & { readonly version?: string }): string {
  const isStored = pointer.version !== undefined && pointer.version !== "undefined";
  const version = isStored ? `@${pointer.version}` : "";
  return `${pointer.type}(${pointer.namespace}/${pointer.id}${version})`;
}
