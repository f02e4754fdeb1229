import {
  compileIdQuery,
  hasCode,
  type Kind,
  type Pointer,
  type Resource,
  type TypeRegistry,
} from "../../resource/index.ts";
import type {
  CoreState,
  CreateOptions,
  DestroyOptions,
  Event,
  GetOptions,
  ListOptions,
  ResourceList,
  UpdateOptions,
  Watch,
  WatchKindOptions,
  WatchOptions,
} from "../../state/index.ts";
import { encodeListRequest } from "../messages/list-request.ts";
import { encodePointerRequest } from "../messages/pointer-request.ts";
import { decodeTeardownResponse } from "../messages/teardown-response.ts";
import { encodeCreateRequest, encodeUpdateRequest } from "../messages/write-request.ts";
import { Rpc } from "../rpc.ts";
import type { LifeCheck } from "./life-check.ts";
import type { RemoteCalls } from "./remote-calls.ts";
import { BatchWatch, EventWatch } from "./watch/remote-watch.ts";
import type { WatchFeed } from "./watch/watch-feed.ts";
import { stamped } from "./stamped.ts";
import { CREATED_RESOURCE_TAG, readStored, type SentResource, UPDATED_RESOURCE_TAG } from "./stored-resource.ts";
import { expectPointer } from "./expect-address.ts";
import { kindTargetOf, targetOf } from "./watch/watch-target.ts";

/** The operations that every server has. */
export class RemoteOperations implements CoreState {
  protected readonly calls: RemoteCalls;
  protected readonly lives: LifeCheck;
  readonly #types: TypeRegistry;

  constructor(calls: RemoteCalls, lives: LifeCheck, types: TypeRegistry) {
    this.calls = calls;
    this.lives = lives;
    this.#types = types;
  }

  async get(pointer: Pointer, { signal }: GetOptions = {}): Promise<Resource> {
    return this.calls.unary(Rpc.get, pointer, encodePointerRequest(pointer), signal, (response) =>
      expectPointer(this.calls.readResource(response), pointer),
    );
  }

  async getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    try {
      return await this.get(pointer, options);
    } catch (error) {
      if (hasCode(error, "not_found")) return undefined;
      throw error;
    }
  }

  async list(kind: Kind, { labels, ids, signal }: ListOptions = {}): Promise<ResourceList> {
    if (ids !== undefined) await checkPattern(ids, signal);
    return this.calls.list(kind, encodeListRequest(kind, { labels, ids }), signal);
  }

  async create(resource: Resource, { owner, signal }: CreateOptions = {}): Promise<Resource> {
    const sent = stamped(this.#types.admit(resource), this.calls.clock.now());
    const message = encodeCreateRequest(this.calls.encoder, sent, owner);
    return this.#write(Rpc.create, { resource: sent, message, tag: CREATED_RESOURCE_TAG }, signal);
  }

  async update(resource: Resource, { owner, expectedPhase, signal }: UpdateOptions = {}): Promise<Resource> {
    const sent = this.#types.admit(resource);
    const message = encodeUpdateRequest(this.calls.encoder, sent, owner, expectedPhase);
    return this.#write(Rpc.update, { resource: sent, message, tag: UPDATED_RESOURCE_TAG }, signal);
  }

  async destroy(pointer: Pointer, { owner, signal }: DestroyOptions = {}): Promise<void> {
    const life = await this.lives.before(pointer, signal);
    const message = encodePointerRequest(pointer, owner, life);
    this.lives.after(await this.calls.unary(Rpc.destroy, pointer, message, signal, decodeTeardownResponse));
  }

  async watch(pointer: Pointer, options: WatchOptions = {}): Promise<Watch> {
    return new EventWatch(await this.calls.watch(targetOf(pointer, options), options.signal));
  }

  async watchKind(kind: Kind, options: WatchKindOptions = {}): Promise<Watch> {
    return new EventWatch(await this.#watchKind(kind, options, false));
  }

  async watchKindBatches(kind: Kind, options: WatchKindOptions = {}): Promise<Watch<readonly Event[]>> {
    return new BatchWatch(await this.#watchKind(kind, options, true));
  }

  async #watchKind(kind: Kind, options: WatchKindOptions, aggregated: boolean): Promise<WatchFeed> {
    const target = kindTargetOf(kind, options, aggregated);
    const { signal } = options;
    if (target.query.ids !== undefined) await checkPattern(target.query.ids, signal);
    return this.calls.watch(target, signal);
  }

  #write(rpc: Rpc, sent: SentResource, signal: AbortSignal | undefined): Promise<Resource> {
    const { resource, message } = sent;
    return this.calls.unary(rpc, resource.metadata, message, signal, (answer) =>
      expectPointer(readStored(this.calls.decoder, sent, answer), resource.metadata),
    );
  }
}

/** Servers differ in what they say to a pattern that does not compile. @throws {StateError} `invalid` */
async function checkPattern(ids: string, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await compileIdQuery(ids);
}
