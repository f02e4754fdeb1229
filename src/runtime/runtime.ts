import { endsWithin } from "../clock/index.ts";
import type { Controller, QueueController } from "../controller/index.ts";
import { StopTimeoutError } from "../internal/stop-timeout-error.ts";
import { toError } from "../internal/to-error.ts";
import type { Pointer } from "../resource/index.ts";
import type { CoreState } from "../state/index.ts";
import type { Adapter, AdapterParts } from "./adapter.ts";
import { CachedState } from "./cache/cached-state.ts";
import { ClassicAdapter } from "./classic/classic-adapter.ts";
import { ControllerRegistry, setUpFailed } from "./registration/controller-registry.ts";
import type { DeclaredInput } from "./declared-input.ts";
import type { ControllerStatus } from "./explain/controller-status.ts";
import type { Explanation } from "./explain/explanation.ts";
import { explainResource } from "./explain-resource.ts";
import { findHeldFinalizers, warnOfHeldFinalizers, type HeldFinalizer } from "./registration/held-finalizers.ts";
import { Graph } from "./graph/graph.ts";
import type { MetricsRegistry } from "./metrics/metrics.ts";
import { QueueAdapter } from "./queue/queue-adapter.ts";
import {
  resolveRuntimeOptions,
  type ResolvedRuntimeOptions,
  type RunOptions,
  type RuntimeOptions,
} from "./runtime-options.ts";
import { RunningControllers } from "./registration/running-controllers.ts";
import { TurnBudget } from "./turn-budget.ts";
import { Watches } from "./intake/watches.ts";

/**
 * Runs controllers on a State: watches what they declared, wakes those whom a change concerns, and gives each a view of
 * the State that holds it to its declarations.
 *
 * *New*: controllers can be registered, nothing runs, the State is not touched. *Running*, from {@link run} on: further
 * ones start at once. *Stopped*, by the signal, by disposal, or because a watch failed: it cannot be started again.
 */
export class Runtime implements AsyncDisposable {
  /** What was counted so far. */
  readonly metrics: MetricsRegistry;
  readonly #core: CoreState;
  readonly #options: ResolvedRuntimeOptions;
  readonly #controllers = new ControllerRegistry();
  readonly #watches: Watches;
  readonly #parts: AdapterParts;
  readonly #stop = Promise.withResolvers<void>();
  readonly #running = new RunningControllers((error, thrown) => this.#fail(error, thrown));
  #phase: "new" | "running" | "stopped" = "new";
  #stopReason: unknown;
  #failure: Error | undefined;
  #run: Promise<void> | undefined;

  /**
   * @throws {RegistrationError} when `options.controllers` conflict. @throws {RangeError} for a number out of its range.
   */
  constructor(state: CoreState, options: RuntimeOptions = {}) {
    this.#core = state;
    this.#options = resolveRuntimeOptions(options);
    this.metrics = this.#options.metrics;
    const { clock, logger, random, metricsOf, changeRateLimit, warnOnUncachedReads } = this.#options;
    this.#watches = new Watches({
      core: state,
      clock,
      log: logger,
      metrics: this.metrics,
      graph: this.#controllers.graph,
      writes: this.#controllers.writes,
      cache: this.#options.cache,
      adapter: (name) => this.#controllers.get(name),
      onError: (error) => this.#watchFailed(error),
    });
    this.#parts = {
      core: state,
      clock,
      logger,
      random,
      metricsOf,
      changeRateLimit,
      warnOnUncachedReads,
      shutdownGraceMs: this.#options.shutdownGraceMs,
      budget: new TurnBudget(clock, this.#options.yieldEvery),
      caches: this.#watches.caches,
      lagging: this.#watches.lagging,
      watchInputs: (name, inputs) => this.#watchInputs(name, inputs),
      replaceInputs: (name, inputs) => this.#controllers.replaceInputs(name, inputs),
      listed: (kind, ids) => this.#watches.listed(kind, ids),
      unsteady: this.#watches.unsteady,
      writes: this.#controllers.writes,
    };
    for (const controller of this.#options.controllers) this.#admit(controller).registered();
  }

  /**
   * Adds a controller, before or after {@link run}; in a running runtime it has started when the promise resolves. All
   * or nothing: after an error the runtime is as it was. Registrations do not wait for each other.
   *
   * @throws {RegistrationError}
   */
  async register(controller: Controller | QueueController): Promise<void> {
    this.#refuseWhenStopped(controller.name);
    const adapter = this.#admit(controller);
    if (this.#phase === "new") {
      adapter.registered();
      return;
    }
    const { name } = adapter;
    try {
      await this.#watches.open(this.#controllers.graph.inputsOf(name));
    } catch (cause) {
      this.#controllers.withdraw(name);
      this.#refuseWhenStopped(name);
      throw setUpFailed("watch_failed", name, cause);
    }
    if (this.#isStopped()) this.#controllers.withdraw(name);
    this.#refuseWhenStopped(name);
    if (this.#controllers.get(name) !== adapter) {
      throw setUpFailed("unregistered", name, new Error("it was unregistered meanwhile"));
    }
    adapter.registered();
    this.#running.start(adapter);
  }

  /**
   * Stops a controller, waits until it has ended, and forgets it: its name, inputs and outputs are free.
   *
   * @param controller - It, or its name.
   * @returns the finalizers that it leaves behind: those called as the controller, and those that it added here. Nothing
   * removes them but somebody who takes over its work; they are logged as well.
   * @throws {RegistrationError} `unknown_controller`. @throws {StopTimeoutError} when it has not ended `shutdownGraceMs`
   * after it was asked to stop; then it stays registered, and another call waits again.
   */
  async unregister(controller: string | { readonly name: string }): Promise<readonly HeldFinalizer[]> {
    const name = typeof controller === "string" ? controller : controller.name;
    const adapter = this.#controllers.expect(name);
    const { clock, logger, shutdownGraceMs } = this.#options;
    const reason = new DOMException("the controller was unregistered", "AbortError");
    await this.#running.stopOne(adapter, reason, clock, shutdownGraceMs);
    const inputs = this.#controllers.graph.inputsOf(name);
    if (this.#controllers.get(name) === adapter) this.#controllers.withdraw(name);
    const finalizers = await findHeldFinalizers(this.#core, inputs, adapter.finalizers);
    warnOfHeldFinalizers(logger, name, finalizers);
    return finalizers;
  }

  /**
   * Runs until the signal aborts: then resolves, once everything has ended. It can be called once.
   *
   * @throws {Error} when a watch could not be opened (its error), or failed later or ended ("controller runtime watch
   * error", with the failure as the cause); when it was called before.
   * @throws {StopTimeoutError} when something has not ended `shutdownGraceMs` after the stop: a controller that ignores
   * its signal, or a State that does not answer. The error and the log name it; it is left behind.
   */
  run(options: RunOptions = {}): Promise<void> {
    if (this.#run !== undefined) {
      return Promise.reject(new Error("the runtime was already started: run() can be called once"));
    }
    if (this.#isStopped()) return Promise.reject(new Error("the runtime was disposed and cannot be started"));
    this.#phase = "running";
    return (this.#run = this.#runUntilStopped(options.signal));
  }

  /** Who writes what and depends on what, now. */
  graph(): Graph {
    return new Graph(this.#controllers.graph.edges());
  }

  /**
   * Why a resource is not (yet) as it should be: its phase, finalizers and owner; who depends on it and who writes it;
   * and what each of those does with it: queue, last outcomes, backoff, last error. `steps` go from the resource to what
   * holds it up in the end, through finalizers, controllers and what those wait for.
   */
  explain(pointer: Pointer): Promise<Explanation> {
    return explainResource(pointer, this.#core, this.#controllers, this.#phase);
  }

  /** All controllers, in order of registration: what they declared, and how they do. */
  controllers(): readonly ControllerStatus[] {
    return this.#controllers.statuses();
  }

  /** Why its controllers may not see what there is, as sentences: it does not run, or watches are not open yet. */
  unready(): readonly string[] {
    if (this.#phase === "running") return this.#watches.unopened();
    return [this.#phase === "new" ? "the runtime has not been started" : "the runtime has stopped"];
  }

  /** The State with its cached kinds read from memory. It has no operations of its own: see `wrapState`. */
  cachedState(): CoreState {
    return new CachedState(this.#core, this.#watches.caches);
  }

  /** Stops the runtime and waits until everything has ended. A failure is {@link run}'s to report. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#requestStop(new DOMException("the runtime was disposed", "AbortError"));
    if (this.#run === undefined) await this.#watches.close(this.#stopReason);
    else await this.#run.catch(() => undefined);
  }

  #admit(controller: Controller | QueueController): Adapter {
    const adapter = this.#controllers.admit(controller, (declared) =>
      declared.form === "queue" ? new QueueAdapter(this.#parts, declared) : new ClassicAdapter(this.#parts, declared),
    );
    this.#watches.need(this.#controllers.graph.inputsOf(adapter.name));
    return adapter;
  }

  #refuseWhenStopped(name: string): void {
    if (!this.#isStopped()) return;
    throw setUpFailed("stopped", name, new Error("the runtime has stopped"));
  }

  readonly #isStopped = (): boolean => this.#phase === "stopped";

  #watchInputs(name: string, inputs: readonly DeclaredInput[]): Promise<void> {
    const added = this.#controllers.newInputs(name, inputs);
    this.#watches.need(added);
    return this.#watches.open(added);
  }

  async #runUntilStopped(signal: AbortSignal | undefined): Promise<void> {
    using _alive = this.#options.clock.keepAlive();
    const onAbort = (): void => this.#requestStop(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    try {
      void this.#startAll();
      await this.#stop.promise;
      await this.#shutDown();
    } catch (error) {
      // What failed first is what there is to tell; the log has the other.
      throw this.#failure ?? error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Never rejects: a failure stops the runtime. */
  async #startAll(): Promise<void> {
    if (this.#isStopped()) return;
    const adapters = [...this.#controllers.adapters()];
    try {
      await this.#watches.openAll();
    } catch (error) {
      this.#fail(toError(error, "the State"), error);
    }
    if (this.#isStopped()) return;
    for (const adapter of adapters) if (this.#controllers.get(adapter.name) === adapter) this.#running.start(adapter);
  }

  /** First the controllers, then what they live on. */
  async #shutDown(): Promise<void> {
    const { clock, logger, shutdownGraceMs } = this.#options;
    const reason = this.#stopReason;
    this.#watches.stop(reason);
    const ended = this.#running.stop(reason).then(() => this.#watches.close(reason));
    if (await endsWithin(clock, shutdownGraceMs, ended)) return this.#warnOfUnanswered();
    const blockers = [...this.#running.blockers(), ...this.#watches.unanswered()];
    const error = new StopTimeoutError("the runtime", blockers, shutdownGraceMs);
    // Calls of what has ended are none of the blockers; the State owes their answers all the same.
    const fields = { blockers: error.blockers, calls: this.#unanswered(), afterMs: shutdownGraceMs };
    logger.error("the runtime did not stop in time", fields);
    this.#watches
      .close(reason)
      .catch((thrown: unknown) => logger.warn("a watch could not be closed", { error: thrown }));
    throw error;
  }

  /** Calls that nothing waits for any more. A watch that opens later is closed then. */
  async #warnOfUnanswered(): Promise<void> {
    if (this.#unanswered().length === 0) return;
    const { clock, logger } = this.#options;
    await new Promise<void>((resolve) => clock.defer(resolve));
    const calls = this.#unanswered();
    if (calls.length > 0) logger.warn("the State does not answer", { calls });
  }

  #unanswered(): readonly string[] {
    const controllers = [...this.#controllers.adapters()];
    return [...controllers.flatMap((adapter) => adapter.unanswered()), ...this.#watches.unanswered()];
  }

  #watchFailed(cause: unknown): void {
    const { message } = toError(cause, "a watch");
    this.#fail(new Error(`controller runtime watch error: ${message}`, { cause }), cause);
  }

  /** Only the first failure counts. */
  #fail(error: Error, reason: unknown): void {
    if (this.#isStopped()) return;
    this.#failure = error;
    this.#requestStop(reason);
  }

  #requestStop(reason: unknown): void {
    if (this.#isStopped()) return;
    this.#phase = "stopped";
    this.#stopReason = reason ?? new DOMException("the runtime has stopped", "AbortError");
    this.#stop.resolve();
  }
}
