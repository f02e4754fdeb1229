import {
  createMetadata,
  isSealed,
  kindOf,
  lifePointer,
  sealResource,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import { SystemClock, type Clock } from "../../clock/index.ts";
import type { CoreState } from "../core-state.ts";
import { getOrNull } from "../get-or-null.ts";
import type { CallOptions, CreateOptions, DestroyOptions, UpdateOptions } from "../options.ts";
import type { AccessVerb } from "./access-verb.ts";
import { asCreated, asUpdated } from "./as-stored.ts";
import { ForwardingState, type Address, type ForwardedOperation } from "./forwarding-state.ts";

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
 * step, as the reads and writes that it consists of: the store's own shortcuts for them are not offered, since the rule
 * could not see what they write.
 *
 * Disposing it disposes the store.
 */
export class AccessFilter extends ForwardingState {
  readonly #core: CoreState;
  readonly #rule: AccessRule;
  readonly #clock: Pick<Clock, "now">;

  /** @param clock - Gives the times that the rule sees in what will be stored. Default: the system's. */
  constructor(core: CoreState, rule: AccessRule, clock: Pick<Clock, "now"> = new SystemClock()) {
    super({ usage: core.usage && (() => core.usage?.() ?? "held") });
    this.#core = core;
    this.#rule = rule;
    this.#clock = clock;
  }

  override async create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    const [fixed, judged] = [fix(resource), { ...options }];
    const { owner = "" } = judged;
    await this.#admit("create", fixed.metadata, judged, { owner, resource: asCreated(fixed, owner, this.#now()) });
    return this.#core.create(fixed, judged);
  }

  override async update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
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

  override async destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    const judged = { ...options };
    const { owner = "" } = judged;
    return this.#core.destroy(await this.#admit("destroy", pointer, judged, { owner }), judged);
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

  protected async forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    const isKind = operation.of === "kind";
    const asked: object = isKind ? { ...kindOf(address), id: "" } : target;
    const admitted = await this.#admit(operation.verb, asked as Pointer, options);
    const fixed: object = isKind ? kindOf(admitted) : admitted;
    return operation.run(this.#core, fixed as Target, options);
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** A resource that cannot change between the decision and the write. */
function fix(resource: Resource): Resource {
  return isSealed(resource) ? resource : sealResource(createMetadata(resource.metadata), resource.spec, undefined);
}
