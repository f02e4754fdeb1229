import { formatPointer, StateError, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import type { CoreState, ResourceList, StoreUsage, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import { getOrNull } from "../get-or-null.ts";
import type {
  CallOptions,
  CreateOptions,
  DestroyOptions,
  GetOptions,
  ListOptions,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "../options.ts";
import type { AccessVerb } from "./access-verb.ts";

/** A kind, or one resource of it. */
export type Address = Kind & { readonly id?: string | undefined };

/** An operation of a {@link CoreState}, as a view passes it on. */
export interface ForwardedOperation<Target, Options extends CallOptions, Result> {
  readonly name: Exclude<keyof CoreState, "usage" | typeof Symbol.asyncDispose>;
  readonly verb: AccessVerb;
  /** What its target is; a resource stands for the one at its address. */
  readonly of: "kind" | "pointer" | "resource";
  /** Calls it on a store. */
  run(core: CoreState, target: Target, options: Options | undefined): Promise<Result>;
}

/** The optional operations that a view may offer. */
export type Shortcuts = {
  readonly [Name in "teardown" | "teardownAndDestroy" | "usage"]?: CoreState[Name] | undefined;
};

const GET: ForwardedOperation<Pointer, GetOptions, Resource> = {
  name: "get",
  verb: "get",
  of: "pointer",
  run: (core, pointer, options) => core.get(pointer, options),
};
const GET_OR_NULL: ForwardedOperation<Pointer, GetOptions, Resource | undefined> = {
  name: "getOrNull",
  verb: "get",
  of: "pointer",
  run: getOrNull,
};
const LIST: ForwardedOperation<Kind, ListOptions, ResourceList> = {
  name: "list",
  verb: "list",
  of: "kind",
  run: (core, kind, options) => core.list(kind, options),
};
const CREATE: ForwardedOperation<Resource, CreateOptions, Resource> = {
  name: "create",
  verb: "create",
  of: "resource",
  run: (core, resource, options) => core.create(resource, options),
};
const UPDATE: ForwardedOperation<Resource, UpdateOptions, Resource> = {
  name: "update",
  verb: "update",
  of: "resource",
  run: (core, resource, options) => core.update(resource, options),
};
const DESTROY: ForwardedOperation<Pointer, DestroyOptions, void> = {
  name: "destroy",
  verb: "destroy",
  of: "pointer",
  run: (core, pointer, options) => core.destroy(pointer, options),
};
const WATCH: ForwardedOperation<Pointer, WatchOptions, Watch> = {
  name: "watch",
  verb: "watch",
  of: "pointer",
  run: (core, pointer, options) => core.watch(pointer, options),
};
const WATCH_KIND: ForwardedOperation<Kind, WatchKindOptions, Watch> = {
  name: "watchKind",
  verb: "watch",
  of: "kind",
  run: (core, kind, options) => core.watchKind(kind, options),
};
const WATCH_KIND_BATCHES: ForwardedOperation<Kind, WatchKindOptions, Watch<readonly Event[]>> = {
  name: "watchKindBatches",
  verb: "watch",
  of: "kind",
  run: (core, kind, options) => core.watchKindBatches(kind, options),
};

const TEARDOWN: ForwardedOperation<Pointer, DestroyOptions, boolean> = {
  name: "teardown",
  verb: "update",
  of: "pointer",
  run: (core, pointer, options) => core.teardown?.(pointer, options) ?? Promise.reject(missing("teardown", pointer)),
};
const TEARDOWN_AND_DESTROY: ForwardedOperation<Pointer, DestroyOptions, void> = {
  name: "teardownAndDestroy",
  verb: "destroy",
  of: "pointer",
  run: (core, pointer, options) =>
    core.teardownAndDestroy?.(pointer, options) ?? Promise.reject(missing("teardownAndDestroy", pointer)),
};

/** A view of several stores offers a shortcut only when each of them has it. */
const missing = (name: string, pointer: Pointer): StateError =>
  new StateError("unsupported", `the store of ${formatPointer(pointer)} has no ${name} of its own`, { pointer });

/**
 * The base of views: stores that stand on others. Every operation goes through {@link forward}, so that a view says once
 * what it does with a call, and an operation that stores learn later is added here and hidden by no view by mistake.
 */
export abstract class ForwardingState implements CoreState {
  // Only declared: what a view does not offer must not be found in it.
  declare readonly teardown?: (pointer: Pointer, options?: DestroyOptions) => Promise<boolean>;
  declare readonly teardownAndDestroy?: (pointer: Pointer, options?: DestroyOptions) => Promise<void>;
  declare readonly usage?: () => StoreUsage;

  /**
   * @param shortcuts - The optional operations that the view offers too: those of the store below, or none where the view
   *   has to see each step of a derived operation.
   */
  constructor(shortcuts: Shortcuts = {}) {
    if (shortcuts.teardown !== undefined) {
      this.teardown = (pointer, options) => this.forward(TEARDOWN, pointer, pointer, options);
    }
    if (shortcuts.teardownAndDestroy !== undefined) {
      this.teardownAndDestroy = (pointer, options) => this.forward(TEARDOWN_AND_DESTROY, pointer, pointer, options);
    }
    if (shortcuts.usage !== undefined) this.usage = () => shortcuts.usage?.() ?? "held";
  }

  /** Does with a call what the view is for; `operation.run` calls a store. */
  protected abstract forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result>;

  get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    return this.forward(GET, pointer, pointer, options);
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return this.forward(GET_OR_NULL, pointer, pointer, options);
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.forward(LIST, kind, kind, options);
  }

  create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    return this.forward(CREATE, resource.metadata, resource, options);
  }

  update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    return this.forward(UPDATE, resource.metadata, resource, options);
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return this.forward(DESTROY, pointer, pointer, options);
  }

  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.forward(WATCH, pointer, pointer, options);
  }

  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.forward(WATCH_KIND, kind, kind, options);
  }

  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.forward(WATCH_KIND_BATCHES, kind, kind, options);
  }
}
