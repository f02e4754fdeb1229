import type { Controller, Input, ReconcileContext, RunContext } from "../../controller/index.ts";
import type { Logger } from "../../log/index.ts";
import { toError } from "../../internal/to-error.ts";
import { Backoff } from "../../clock/index.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { isDestroyReady, type Kind } from "../../resource/index.ts";
import type { Adapter, AdapterParts, ControllerExplanation, DeclaredClassic, Route } from "../adapter.ts";
import type { ControllerFacade } from "../guard/controller-facade.ts";
import { statusOf, type AdapterStatus } from "../explain/controller-status.ts";
import { classifyFailure, classifyResult, type Verdict } from "../explain/classify-outcome.ts";
import { ClassicInputs } from "./classic-inputs.ts";
import { isWorthALine } from "../causes/wake-up-causes.ts";
import type { DeclaredInput } from "../declared-input.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import type { PendingCalls } from "../pending-calls.ts";
import { openFacade } from "../guard/open-facade.ts";
import { OutcomeLog } from "../explain/outcome-log.ts";
import { OutputTracker } from "../guard/output-tracker.ts";
import { sleepUnlessAborted } from "../retry.ts";
import { WakeTimer } from "./wake-timer.ts";
import { WakeUpFlag } from "./wake-up-flag.ts";

/** Key of a classic controller's outcomes: it has one loop for everything. */
const WHOLE = "";

/**
 * Runs a classic controller: one loop, never entered twice at once. *running* until it returns, which ends it for good,
 * or throws. After a failure follows *backoff*, and it runs again from the top with a wake-up in its slot; after a skip or
 * a request to run again it is *idle* until a wake-up comes.
 */
export class ClassicAdapter implements Adapter {
  readonly name: string;
  readonly finalizers: ReadonlySet<string>;
  readonly #parts: AdapterParts;
  readonly #declared: DeclaredClassic;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #slot: WakeUpFlag;
  readonly #tracker: OutputTracker;
  readonly #stopper = new AbortController();
  readonly #state: ControllerFacade;
  readonly #inputs: ClassicInputs;
  readonly #calls: PendingCalls;
  readonly #backoff: Backoff;
  readonly #outcomes = new OutcomeLog(1);
  #mode: "idle" | "running" | "backoff" | "ended" = "idle";
  /** When the backoff ends. */
  #resumesAtMs = 0;
  /** Wakes it when it asked to run again. */
  readonly #again: WakeTimer;
  /** Start of the run, then of each cycle in it. A cycle goes from one wake-up to the next time that one is asked for. */
  #startedAtMs = 0;
  #inCycle = false;
  #lastError: Error | undefined;
  /** Wake-ups in a row that its own writes alone caused. */
  #ownWakeUps = 0;

  constructor(parts: AdapterParts, declared: DeclaredClassic) {
    this.name = declared.name;
    this.#parts = parts;
    this.#declared = declared;
    this.#log = parts.logger.child({ controller: declared.name });
    this.#metrics = parts.metricsOf(declared.name);
    this.#slot = new WakeUpFlag(parts.clock, this.#metrics);
    this.#again = new WakeTimer(parts.clock, () => this.#slot.fill());
    this.#tracker = new OutputTracker(declared.name, {
      list: (kind) => this.#state.list(kind),
      getOrNull: (pointer) => this.#state.getOrNull(pointer),
      teardown: (pointer) => this.#state.teardown(pointer),
      destroy: (pointer) => this.#state.destroy(pointer),
      wakeWhenReleased: (kind) => this.#inputs.wakeWhenReleased(kind),
    });
    const facade = openFacade(parts, declared, this.#metrics, this.#log, this.#stopper.signal, this.#tracker);
    this.#state = facade.state;
    this.#inputs = new ClassicInputs(declared, parts, facade.allow);
    this.#calls = facade.calls;
    this.finalizers = facade.finalizers;
    this.#backoff = new Backoff(parts.random);
  }

  get #named(): string {
    return `controller ${JSON.stringify(this.name)}`;
  }

  /** The first wake-up is due at once: what was there before, no event tells. */
  registered(): void {
    this.#slot.fill();
  }

  route({ kind }: DeclaredInput): Route {
    const slot = this.#slot;
    const onlyDestroyReady = kind === "destroyReady";
    return {
      trigger: ({ metadata, certain, cause }) => {
        if (onlyDestroyReady && !certain && !isDestroyReady(metadata)) return;
        slot.fill(cause && (() => cause.isOnly(this.name)));
      },
      resynced: () => slot.fill(),
    };
  }

  async start(): Promise<void> {
    this.#log.debug("controller starting");
    while (!this.#stopper.signal.aborted) {
      const end = await this.#runOnce();
      if (end === "finished") break;
      if (end.kind === "failed") await this.#waitForRestart(end);
      else await this.#slot.untilFull();
    }
    this.#mode = "ended";
    this.#again.cancel();
    this.#slot.close();
    this.#log.debug("controller finished");
  }

  stop(reason: unknown): void {
    this.#stopper.abort(reason);
    this.#slot.close();
  }

  activities(): readonly string[] {
    if (this.#mode === "ended") return [];
    return [this.#declared.controller.run === undefined ? "its reconcile" : "its run"];
  }

  unanswered(): readonly string[] {
    return this.#calls.describe();
  }

  explain(): ControllerExplanation {
    const idle = this.#slot.full || this.#again.dueInMs !== undefined ? "waiting" : "idle";
    return {
      controller: this.name,
      form: "classic",
      state: this.#mode === "idle" ? idle : this.#mode,
      dueInMs: this.#mode === "backoff" ? this.#resumesInMs() : this.#again.dueInMs,
      ownWakeUps: this.#ownWakeUps,
      changedMeanwhile: this.#mode !== "idle" && this.#slot.full,
      outcomes: this.#outcomes.of(WHOLE),
      lastError: this.#lastError,
    };
  }

  status(): AdapterStatus {
    return statusOf(this.explain());
  }

  #resumesInMs(): number {
    return Math.max(0, this.#resumesAtMs - this.#parts.clock.monotonic());
  }

  /** Gives why the run is over. */
  async #runOnce(): Promise<"finished" | Verdict> {
    const { controller } = this.#declared;
    this.#mode = "running";
    this.#startedAtMs = this.#parts.clock.monotonic();
    this.#inCycle = false;
    this.#slot.begin();
    try {
      if (controller.run === undefined) await this.#reconcileLoop(controller);
      else await controller.run(this.#runContext());
      return "finished";
    } catch (thrown) {
      const { signal } = this.#stopper;
      if (signal.aborted && isCancellation(thrown, signal)) return "finished";
      const verdict = classifyFailure(thrown, this.#named);
      if (verdict.kind === "failed") await this.#clearReleased(signal);
      else {
        this.#slot.done();
        this.#settle(verdict);
      }
      return verdict;
    } finally {
      this.#mode = "idle";
      this.#tracker.drop();
      this.#slot.abandon();
    }
  }

  async #waitForRestart({ error, afterMs }: Verdict): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopper;
    const delayMs = afterMs ?? this.#backoff.next();
    this.#lastError = error;
    this.#metrics.crashes++;
    this.#note("failed", error?.message, delayMs);
    this.#log.error("controller failed", { error });
    this.#log.debug("restarting controller", { intervalMs: delayMs });
    this.#mode = "backoff";
    this.#resumesAtMs = clock.monotonic() + delayMs;
    await sleepUnlessAborted(clock, delayMs, signal);
    this.#slot.fill();
  }

  async #reconcileLoop(controller: Controller): Promise<void> {
    while (await this.#take()) {
      let kinds: readonly Kind[] = [];
      const context: ReconcileContext = {
        ...this.#context(),
        trackOutputs: (...tracked) => {
          this.#tracker.start();
          kinds = tracked;
        },
      };
      const verdict = classifyResult(await controller.reconcile?.(context), this.#named);
      // Only what it asked for is wrong: the rest of it went well.
      if (verdict.kind === "failed") throw verdict.error ?? new Error(`${this.#named} failed`);
      if (verdict.kind === "skipped") this.#tracker.drop();
      else if (this.#tracker.tracking) await this.#tracker.cleanup(kinds);
      this.#settle(verdict);
    }
  }

  /** What follows from a run that was no failure. */
  #settle({ kind, reason, afterMs }: Verdict): void {
    this.#backoff.reset();
    if (kind === "done") return;
    this.#lastError = undefined;
    this.#inCycle = false;
    if (kind === "skipped") this.#metrics.skips++;
    else this.#metrics.requeues++;
    this.#note(kind, reason, afterMs);
    this.#log.debug(`controller ${kind}`, { reason, intervalMs: afterMs });
    if (afterMs !== undefined) this.#again.start(afterMs);
  }

  #note(kind: "skipped" | "requeued" | "failed", reason: string | undefined, againAfterMs: number | undefined): void {
    const { clock } = this.#parts;
    const tookMs = clock.monotonic() - this.#startedAtMs;
    this.#outcomes.add(WHOLE, { kind, atMs: clock.now(), tookMs, reason, againAfterMs });
  }

  #countOwnWakeUps(): void {
    this.#ownWakeUps = this.#slot.isOwn ? this.#ownWakeUps + 1 : 0;
    if (this.#ownWakeUps === 0) return;
    this.#metrics.ownWakeUps++;
    if (!isWorthALine(this.#ownWakeUps)) return;
    this.#log.warn("controller wakes itself by its own writes", { times: this.#ownWakeUps });
  }

  /** A failure here must not hide the one before, which the next run shows again if it stays. */
  async #clearReleased(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      await this.#tracker.clearReleased();
    } catch (thrown) {
      this.#log.error("removing released outputs failed", { error: toError(thrown, this.#named) });
    }
  }

  #runContext(): RunContext {
    return {
      ...this.#context(),
      wakeups: { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) },
      resetRestartBackoff: () => this.#backoff.reset(),
      startTrackingOutputs: () => this.#tracker.start(),
      cleanupOutputs: async (...kinds) => {
        await this.#tracker.cleanup(kinds);
        this.#backoff.reset();
      },
    };
  }

  #context() {
    const { clock } = this.#parts;
    return {
      state: this.#state,
      log: this.#log,
      signal: this.#stopper.signal,
      clock,
      queueReconcile: () => this.#slot.fill(),
      updateInputs: (inputs: readonly Input[]) => this.#inputs.update(inputs),
    };
  }

  async #next(): Promise<IteratorResult<void, undefined>> {
    return (await this.#take()) ? { done: false, value: undefined } : { done: true, value: undefined };
  }

  async #take(): Promise<boolean> {
    const { clock } = this.#parts;
    if (this.#inCycle) {
      this.#outcomes.succeeded(WHOLE, clock.now(), clock.monotonic() - this.#startedAtMs);
      this.#lastError = undefined;
    }
    this.#inCycle = false;
    this.#mode = "idle";
    const taken = await this.#slot.take();
    if (taken) {
      this.#again.cancel();
      this.#countOwnWakeUps();
      this.#mode = "running";
      this.#startedAtMs = clock.monotonic();
      this.#inCycle = true;
    }
    return taken;
  }
}
