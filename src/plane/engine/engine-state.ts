import type { Clock, Timer } from "../../clock/index.ts";
import { abortable } from "../../internal/abortable.ts";
import { MemoryNamespace } from "../../memory/index.ts";
import { hasCode, StateError, TypeRegistry, type Kind, type Pointer } from "../../resource/index.ts";
import type { Runtime } from "../../runtime/index.ts";
import {
  ForwardingState,
  isReadVerb,
  wrapState,
  type Address,
  type CallOptions,
  type Event,
  type ForwardedOperation,
  type State,
  type Watch,
  type WatchKindOptions,
  type WatchOptions,
} from "../../state/index.ts";
import { ClosingWatch } from "./closing-watch.ts";
import { controllerSpec, explanationSpec } from "./engine-specs.ts";
import {
  ENGINE_NAMESPACE,
  ENGINE_TYPES,
  EngineController,
  EngineExplanation,
  parseExplanationId,
} from "./engine-types.ts";

/** Between two looks at the engine, while somebody watches. Unit: milliseconds. */
const REFRESH_MS = 500;
/** Explanations that are kept current at a time; the one that was asked for longest ago goes first. */
const MAX_EXPLANATIONS = 100;

/**
 * The engine as resources, computed when they are read, and every half second while they are watched. Read-only. It
 * costs nothing while it is not read.
 */
export class EngineState extends ForwardingState {
  readonly #runtime: Pick<Runtime, "controllers" | "explain" | "metrics">;
  readonly #clock: Clock;
  readonly #store: MemoryNamespace;
  readonly #state: State;
  /** Ids of explanations, oldest request first. */
  readonly #explained = new Set<string>();
  /** Explanations that are being made, by id: the State that they ask may not answer, and then they stay. */
  readonly #explaining = new Map<string, Promise<void>>();
  #refreshing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #watches = 0;

  constructor(runtime: Pick<Runtime, "controllers" | "explain" | "metrics">, clock: Clock) {
    const refuse = (pointer: Pointer): Promise<never> => Promise.reject(readOnly(pointer));
    super({ teardown: refuse, teardownAndDestroy: refuse });
    this.#runtime = runtime;
    this.#clock = clock;
    this.#store = new MemoryNamespace(ENGINE_NAMESPACE, { types: new TypeRegistry(ENGINE_TYPES), clock });
    this.#state = wrapState(this.#store, { clock });
  }

  protected async forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    if (!isReadVerb(operation.verb)) throw readOnly(address);
    const refreshed = this.#refresh(address);
    await (options?.signal === undefined ? refreshed : abortable(refreshed, options.signal));
    return operation.run(this.#store, target, options);
  }

  override async watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#watched(await super.watch(pointer, options));
  }

  override async watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#watched(await super.watchKind(kind, options));
  }

  override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#watched(await super.watchKindBatches(kind, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#watches = 0;
    await this.#store[Symbol.asyncDispose]();
  }

  #watched<T>(watch: Watch<T>): Watch<T> {
    this.#watches++;
    this.#arm();
    return new ClosingWatch(watch, () => {
      this.#watches--;
    });
  }

  /** Looks again in a while, as long as somebody watches. */
  #arm(): void {
    if (this.#timer !== undefined || this.#watches === 0) return;
    this.#timer = this.#clock.schedule(REFRESH_MS, () => {
      this.#timer = undefined;
      // A failure is the next read's to tell. Nothing waits for explanations: the State may not answer.
      for (const id of this.#explained) void this.#explain(id).catch(() => undefined);
      void this.#refresh()
        .catch(() => undefined)
        .then(() => this.#arm());
    });
  }

  /** Looks at the engine; several who ask at once share one look. */
  async #refresh(asked?: Address): Promise<void> {
    const explained = asked?.type === EngineExplanation.type ? asked.id : undefined;
    if (explained !== undefined) this.#remember(explained);
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
    if (explained !== undefined) await this.#explain(explained);
  }

  async #look(): Promise<void> {
    const nowMs = this.#clock.now();
    const present = new Set<string>();
    for (const status of this.#runtime.controllers()) {
      present.add(status.name);
      const spec = controllerSpec(status, this.#runtime.metrics.controller(status.name), nowMs);
      await this.#state.modify(EngineController, status.name, () => spec);
    }
    for (const { metadata } of await this.#state.list(EngineController)) {
      if (!present.has(metadata.id)) await this.#remove(metadata);
    }
  }

  #remember(id: string): void {
    this.#explained.delete(id);
    this.#explained.add(id);
    const [oldest] = this.#explained;
    if (this.#explained.size <= MAX_EXPLANATIONS || oldest === undefined) return;
    this.#explained.delete(oldest);
    // It fails when the state is closed, and then it is gone anyway.
    void this.#remove(EngineExplanation.ref(oldest)).catch(() => undefined);
  }

  /** Several who ask for the same share one explanation. */
  #explain(id: string): Promise<void> {
    const known = this.#explaining.get(id);
    if (known !== undefined) return known;
    if (this.#explaining.size >= MAX_EXPLANATIONS) {
      const text = `${MAX_EXPLANATIONS} explanations wait for the State: it answers late, or not at all`;
      return Promise.reject(new StateError("unavailable", text));
    }
    const explaining = this.#makeExplanation(id).finally(() => this.#explaining.delete(id));
    this.#explaining.set(id, explaining);
    return explaining;
  }

  async #makeExplanation(id: string): Promise<void> {
    const pointer = parseExplanationId(id);
    if (pointer === undefined) return;
    const explanation = await this.#runtime.explain(pointer);
    const spec = explanationSpec(explanation, this.#clock.now());
    await this.#state.modify(EngineExplanation, id, () => spec);
  }

  async #remove(pointer: Pointer): Promise<void> {
    try {
      await this.#state.destroy(pointer);
    } catch (error) {
      if (!hasCode(error, "not_found", "version_conflict")) throw error;
    }
  }
}

function readOnly({ type, id = "" }: Address): StateError {
  const text = `${type} ${id} tells what the engine does: it can be read, not written`;
  return new StateError("unsupported", text);
}
