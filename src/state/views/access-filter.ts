import {
  createMetadata,
  isSealed,
  lifePointer,
  sealResource,
  type Kind,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import { SystemClock, type Clock } from "../../clock/index.ts";
import { asCreated, asUpdated } from "./as-stored.ts";
import type { CoreState, ResourceList, Watch } from "../core-state.ts";
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

/** What an operation does, for an {@link AccessRule}. */
export const AccessVerb = {
  get: "get",
  list: "list",
  watch: "watch",
  create: "create",
  update: "update",
  destroy: "destroy",
} as const;
export type AccessVerb = (typeof AccessVerb)[keyof typeof AccessVerb];

/** True for the verbs that change nothing. */
export const isReadVerb = (verb: AccessVerb): boolean => verb === "get" || verb === "list" || verb === "watch";

/** One operation that somebody asks for. */
export interface Access extends Pointer {
  /** Empty for operations on a whole kind: list, and the watches of a kind. */
  readonly id: string;
  readonly verb: AccessVerb;
  /** The owner in whose name it is; empty for none. Present for create, update and destroy. */
  readonly owner?: string | undefined;
  /** What a create or update will store, if the State agrees: owner, version and times are set as it sets them. */
  readonly resource?: Resource | undefined;
  /** What an update changes, as it is now; undefined when nothing is there. */
  readonly stored?: Resource | undefined;
}

/** Called before each operation; what it throws denies the operation, and is what the caller gets. */
export type AccessRule = (access: Access, options: CallOptions) => void | Promise<void>;

/**
 * A store behind a rule: an operation that the rule denies does not reach it. A derived operation is asked for step by
 * step, as the reads and writes that it consists of, so the store's own shortcuts for them are not offered.
 *
 * Disposing it disposes the store.
 */
export class AccessFilter implements CoreState {
  readonly #core: CoreState;
  readonly #rule: AccessRule;
  readonly #clock: Pick<Clock, "now">;

  /** @param clock - Gives the times that the rule sees in what will be stored. Default: the system's. */
  constructor(core: CoreState, rule: AccessRule, clock: Pick<Clock, "now"> = new SystemClock()) {
    this.#core = core;
    this.#rule = rule;
    this.#clock = clock;
  }

  async get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    return this.#core.get(await this.#admit("get", pointer, options), options);
  }

  async getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return getOrNull(this.#core, await this.#admit("get", pointer, options), options);
  }

  async list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.#core.list(await this.#admitKind("list", kind, options), options);
  }

  async create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    const [fixed, judged] = [fix(resource), { ...options }];
    const { owner = "" } = judged;
    await this.#admit("create", fixed.metadata, judged, { owner, resource: asCreated(fixed, owner, this.#now()) });
    return this.#core.create(fixed, judged);
  }

  async update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    const [fixed, judged] = [fix(resource), { ...options }];
    const { owner = "", signal } = judged;
    const stored = await getOrNull(this.#core, fixed.metadata, { signal });
    await this.#admit("update", fixed.metadata, judged, {
      owner,
      resource: asUpdated(fixed, stored, this.#now()),
      stored,
    });
    return this.#core.update(fixed, judged);
  }

  async destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    const judged = { ...options };
    const { owner = "" } = judged;
    return this.#core.destroy(await this.#admit("destroy", pointer, judged, { owner }), judged);
  }

  async watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#core.watch(await this.#admit("watch", pointer, options), options);
  }

  async watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#core.watchKind(await this.#admitKind("watch", kind, options), options);
  }

  async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#core.watchKindBatches(await this.#admitKind("watch", kind, options), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core[Symbol.asyncDispose]?.();
  }

  /** Resolves to the address that was judged: the caller's object may have changed by then. */
  async #admit(
    verb: AccessVerb,
    pointer: Pointer,
    options: CallOptions = {},
    write?: Pick<Access, "owner" | "resource" | "stored">,
  ): Promise<Pointer> {
    options.signal?.throwIfAborted();
    const fixed = lifePointer(pointer);
    const { namespace, type, id } = fixed;
    await this.#rule({ namespace, type, id, verb, ...write }, options);
    return fixed;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  async #admitKind(verb: AccessVerb, { namespace, type }: Kind, options?: CallOptions): Promise<Kind> {
    await this.#admit(verb, { namespace, type, id: "" }, options);
    return { namespace, type };
  }
}

/** A resource that cannot change between the decision and the write. */
function fix(resource: Resource): Resource {
  return isSealed(resource) ? resource : sealResource(createMetadata(resource.metadata), resource.spec, undefined);
}
