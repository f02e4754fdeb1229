import type { Logger } from "../../log/index.ts";
import type { QueueController, QueueReconcileContext } from "../../controller/index.ts";
import type { Change } from "../change.ts";
import { isWorthALine, type IsOwn } from "../causes/wake-up-causes.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { toError } from "../../internal/to-error.ts";
import { formatPointer, type Metadata, type Pointer } from "../../resource/index.ts";
import type { ResourceList } from "../../state/index.ts";
import type {
  Adapter,
  AdapterParts,
  ControllerExplanation,
  DeclaredMapping,
  DeclaredQueue,
  Route,
} from "../adapter.ts";
import type { ControllerFacade } from "../guard/controller-facade.ts";
import { sameInputKey, type DeclaredInput } from "../declared-input.ts";
import { Dispatcher } from "./dispatcher.ts";
import { explainItem } from "./explain-item.ts";
import { itemContext, type SharedContext } from "./item-context.ts";
import { ItemQueue, KindQueue } from "./item-queue.ts";
import { ResultHandler } from "./result-handler.ts";
import { KindMap } from "../kind-map.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import type { PendingCalls } from "../pending-calls.ts";
import { openFacade } from "../guard/open-facade.ts";
import type { AdapterStatus } from "../explain/controller-status.ts";
import { OutcomeLog } from "../explain/outcome-log.ts";
import { MapJobs } from "./map-jobs.ts";
import { REMEMBERED_KEYS, type Job, type QueueItem, type JobQueue } from "./queue-worker.ts";
import { ShutdownHook } from "./shutdown-hook.ts";
import { retry, type RetryOptions } from "../retry.ts";

const NOTHING: readonly Metadata[] = [];

/** A hook that ran this long before it failed starts its retry intervals over. */
const HOOK_WORKED_MS = 60_000;

/**
 * Runs a queue controller: primaries are put into its queue, changes of mapped inputs as map jobs, which put primaries.
 * Workers take what is due. Beside them run the initial fill and the run hook; after all of them, the shutdown hook.
 */
export class QueueAdapter implements Adapter {
  readonly name: string;
  readonly finalizers: ReadonlySet<string>;
  readonly #parts: AdapterParts;
  readonly #controller: QueueController;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #stopper = new AbortController();
  readonly #state: ControllerFacade;
  readonly #shared: SharedContext;
  readonly #queue = new ItemQueue<readonly Metadata[], Job>((item) => this.#wokeItself(item));
  readonly #results: ResultHandler;
  readonly #dispatcher: Dispatcher;
  readonly #primaries = new KindMap<JobQueue>();
  readonly #mapped: readonly MapJobs[];
  readonly #shutdownHook: ShutdownHook;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #calls: PendingCalls;
  /** What runs beside the workers. */
  readonly #beside = new Set<string>();
  #filling: Promise<void> = Promise.resolve();
  /** What went wrong outside of the controller's own code, such as in a logger: it ends the runtime. */
  #broken: { readonly error: unknown } | undefined;

  constructor(parts: AdapterParts, declared: DeclaredQueue) {
    const { controller, name, concurrency, primaries, mappings } = declared;
    this.name = name;
    this.#parts = parts;
    this.#controller = controller;
    this.#log = parts.logger.child({ controller: name });
    this.#metrics = parts.metricsOf(name);
    const { signal } = this.#stopper;
    const { state, calls, finalizers } = openFacade(parts, declared, this.#metrics, this.#log, signal);
    this.#shutdownHook = new ShutdownHook(parts, declared, this.#metrics, this.#log);
    this.#state = state;
    this.#calls = calls;
    this.finalizers = finalizers;
    this.#shared = { state, log: this.#log, signal, clock: parts.clock };
    const { clock, random, budget } = parts;
    this.#results = new ResultHandler({
      name,
      queue: this.#queue,
      metrics: this.#metrics,
      log: this.#log,
      clock,
      random,
      signal,
      onBroken: (error) => this.#break(error),
    });
    this.#dispatcher = new Dispatcher(this.#queue, this.#results, concurrency, clock, budget);
    for (const input of primaries) this.#primaries.set(input, this.#reconcileQueue(input));
    this.#mapped = mappings.map((mapping) => this.#mapJobs(mapping));
  }

  /** Nothing is due before the start, which fills the queue. */
  registered(): void {}

  route(input: DeclaredInput): Route {
    if (input.kind === "primary") return this.#primaryRoute(input);
    const jobs = this.#mapped.find(({ kindQueue }) => sameInputKey(kindQueue.job.input, input));
    if (jobs === undefined) throw new Error(`controller ${this.name} has no input for its route`);
    return jobs.route();
  }

  async start(): Promise<void> {
    this.#log.debug("controller starting");
    this.#dispatcher.start();
    this.#refill();
    const hook = this.#noted("its run hook", () => this.#runHook()).catch((error: unknown) => this.#break(error));
    await this.#stopped.promise;
    await Promise.all([this.#dispatcher.stop(), hook]);
    await this.#filling;
    await this.#noted("its shutdown hook", () => this.#shutdownHook.run());
    this.#log.debug("controller finished");
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  stop(reason: unknown): void {
    this.#shutdownHook.startGrace();
    // Before the signal: whoever ends at it must not make room for the next.
    void this.#dispatcher.stop();
    this.#stopper.abort(reason);
    this.#stopped.resolve();
  }

  activities(): readonly string[] {
    const items = this.#dispatcher
      .processing()
      .map(({ kindQueue, id }) => `${kindQueue.job.name} of ${formatPointer({ ...kindQueue.job.input, id })}`);
    return [...items, ...this.#beside];
  }

  unanswered(): readonly string[] {
    return this.#calls.describe();
  }

  explain(pointer: Pointer): ControllerExplanation {
    const { namespace, type } = pointer;
    const ofKind = ({ kindQueue: { job } }: MapJobs): boolean =>
      job.input.namespace === namespace && job.input.type === type;
    const kindQueue = this.#primaries.get(namespace, type) ?? this.#mapped.find(ofKind)?.kindQueue;
    return explainItem(this.name, kindQueue, pointer.id, this.#parts.clock.monotonic());
  }

  status(): AdapterStatus {
    const processing = this.#dispatcher.processing().length;
    const queueLength = this.#queue.length;
    const isEnded = this.#stopper.signal.aborted && this.activities().length === 0;
    const waits = queueLength > 0 ? "waiting" : "idle";
    const state = isEnded ? "ended" : processing > 0 ? "running" : waits;
    return { form: "queue", state, queueLength, processing, lastFailure: this.#results.lastFailure };
  }

  /** Ends the adapter, whose {@link start} then rejects. Only the first error counts. */
  #break(error: unknown): void {
    this.#broken ??= { error };
    this.stop(error);
  }

  #reconcileQueue(input: DeclaredInput): JobQueue {
    const run = (item: QueueItem) => {
      this.#metrics.itemsProcessed++;
      return this.#controller.reconcile(itemContext(this.#shared, item) as QueueReconcileContext);
    };
    return new KindQueue({ name: "reconcile", input, outcomes: new OutcomeLog(REMEMBERED_KEYS), run });
  }

  #mapJobs(mapping: DeclaredMapping): MapJobs {
    return new MapJobs(mapping, (kindQueue) => ({
      controller: this.#controller,
      metrics: this.#metrics,
      shared: this.#shared,
      put: (id, states, nowMs, change) => {
        this.#queue.put(kindQueue, id, states, nowMs, this.#isOwn(change));
        this.#woken();
      },
      putPrimary: (pointer, isOwn) => this.#putPrimary(pointer, isOwn),
      wake: () => this.#dispatcher.wake(),
      refill: () => this.#refill(),
    }));
  }

  #putPrimary(pointer: Pointer, isOwn: IsOwn | undefined): void {
    const kindQueue = this.#primaries.get(pointer.namespace, pointer.type);
    if (kindQueue === undefined) throw new Error(`mapped to ${formatPointer(pointer)}, which is not of a primary kind`);
    this.#queue.put(kindQueue, pointer.id, NOTHING, this.#parts.clock.monotonic(), isOwn);
  }

  /** Says so now and then: a key that its own controller wakes again and again rarely means to. */
  #wokeItself({ kindQueue, id, ownPuts }: QueueItem): void {
    this.#metrics.ownWakeUps++;
    if (!isWorthALine(ownPuts)) return;
    const { namespace, type } = kindQueue.job.input;
    this.#log.warn("controller wakes itself by its own writes", { namespace, type, id, times: ownPuts });
  }

  /** Whether a change was made by this controller alone. */
  #isOwn({ cause }: Change): IsOwn | undefined {
    return cause && (() => cause.isOnly(this.name));
  }

  #primaryRoute(input: DeclaredInput): Route {
    const kindQueue = this.#primaries.get(input.namespace, input.type);
    if (kindQueue === undefined) throw new Error(`controller ${this.name} has no kindQueue for its primary`);
    const put = (id: string, nowMs: number, isOwn?: IsOwn): void => {
      this.#queue.put(kindQueue, id, NOTHING, nowMs, isOwn);
      this.#woken();
    };
    return {
      trigger: (change, nowMs) => put(change.metadata.id, nowMs, this.#isOwn(change)),
      resynced: (vanished, nowMs) => {
        if (vanished !== "triggered") for (const id of vanished) put(id, nowMs);
      },
    };
  }

  #woken(): void {
    this.#metrics.queueLength = this.#queue.length;
    this.#dispatcher.wake();
  }

  /** Puts all primaries that exist. One fill after the other, so that the end of the last is the end of all. */
  #refill(): void {
    if (this.#stopper.signal.aborted) return;
    this.#filling = this.#filling
      .then(() => this.#noted("its initial fill", () => this.#fill()))
      .catch((error: unknown) => this.#break(error));
  }

  async #fill(): Promise<void> {
    for (const { job } of this.#primaries.values()) {
      const { namespace, type } = job.input;
      const kindQueue = this.#primaries.get(namespace, type);
      await retry(
        async () => {
          const list: ResourceList = await this.#state.list({ namespace, type });
          const ids = list.map(({ metadata }) => metadata.id);
          this.#parts.listed({ namespace, type }, ids);
          const nowMs = this.#parts.clock.monotonic();
          if (kindQueue !== undefined) for (const id of ids) this.#queue.put(kindQueue, id, NOTHING, nowMs);
          this.#woken();
        },
        this.#retryOptions(`listing ${type} for the initial fill failed`),
      );
    }
  }

  async #noted(activity: string, act: () => Promise<void>): Promise<void> {
    this.#beside.add(activity);
    try {
      await act();
    } finally {
      this.#beside.delete(activity);
    }
  }

  async #runHook(): Promise<void> {
    const { signal } = this.#stopper;
    await retry(async () => this.#controller.runHook?.(this.#shared), {
      ...this.#retryOptions("run hook failed"),
      resetAfterMs: HOOK_WORKED_MS,
      accepts: (thrown) => isCancellation(thrown, signal),
    });
  }

  #retryOptions(message: string): RetryOptions {
    const { clock, random } = this.#parts;
    return {
      clock,
      random,
      signal: this.#stopper.signal,
      onFailure: (thrown, intervalMs) => this.#log.error(message, { error: toError(thrown, this.name), intervalMs }),
    };
  }
}
