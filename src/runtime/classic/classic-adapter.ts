import type { Controller, Input, ReconcileContext, RunContext } from "../../controller/index.ts";
import type { Logger } from "../../log/index.ts";
import { Backoff } from "../../internal/backoff.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { toError } from "../../internal/to-error.ts";
import { isDestroyReady, type Kind, type Metadata } from "../../resource/index.ts";
import { Access } from "../guard/access.ts";
import type { Adapter, AdapterParts, ControllerExplanation, DeclaredClassic, Route } from "../adapter.ts";
import type { ControllerFacade } from "../guard/controller-facade.ts";
import { declareClassicInputs } from "../declare-controller.ts";
import type { DeclaredInput } from "../declared-input.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import type { PendingCalls } from "../guard/pending-calls.ts";
import { openFacade } from "../guard/open-facade.ts";
import { OutcomeLog } from "../explain/outcome-log.ts";
import { OutputTracker } from "../guard/output-tracker.ts";
import { sleepUnlessAborted } from "../retry.ts";
import { WakeSlot } from "./wake-up-flag.ts";

/** Key of a classic controller's outcomes: it has one loop for everything. */
const WHOLE = "";

/**
 * Runs a classic controller: one loop, never entered twice at once. *running* until it returns, which ends it for good,
 * or throws; then *backoff*, and running again from the top with a wake-up in its slot.
 */
export class ClassicAdapter implements Adapter {
  readonly name: string;
  readonly #parts: AdapterParts;
  readonly #declared: DeclaredClassic;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #slot: WakeSlot;
  readonly #tracker: OutputTracker;
  readonly #stopper = new AbortController();
  readonly #state: ControllerFacade;
  readonly #allow: (access: Access) => void;
  readonly #calls: PendingCalls;
  readonly #backoff: Backoff;
  readonly #outcomes = new OutcomeLog(1);
  #mode: "idle" | "running" | "backoff" | "ended" = "idle";
  #resumesAtMs: number | undefined;
  /** Start of the run, then of each cycle in it. A cycle goes from one wake-up to the next time that one is asked for. */
  #startedAtMs = 0;
  #inCycle = false;
  #lastError: Error | undefined;
  /** Calls of `updateInputs`, and the last of them whose inputs are in force. */
  #inputsAsked = 0;
  #inputsInForce = 0;

  constructor(parts: AdapterParts, declared: DeclaredClassic) {
    this.name = declared.name;
    this.#parts = parts;
    this.#declared = declared;
    this.#log = parts.logger.child({ controller: declared.name });
    this.#metrics = parts.metricsOf(declared.name);
    this.#slot = new WakeSlot(parts.clock, this.#metrics);
    this.#tracker = new OutputTracker(declared.name);
    const facade = openFacade(parts, declared, this.#metrics, this.#log, this.#stopper.signal, this.#tracker);
    this.#state = facade.state;
    this.#allow = facade.allow;
    this.#calls = facade.calls;
    this.#backoff = new Backoff(parts.random);
  }

  /** The first wake-up is due at once: what was there before, no event tells. */
  registered(): void {
    this.#slot.fill();
  }

  route({ kind }: DeclaredInput): Route {
    const slot = this.#slot;
    const onlyDestroyReady = kind === "destroyReady";
    return {
      trigger: (metadata: Metadata, _nowMs: number, certain: boolean) => {
        if (!onlyDestroyReady || certain || isDestroyReady(metadata)) slot.fill();
      },
      resynced: () => slot.fill(),
    };
  }

  async start(): Promise<void> {
    this.#log.debug("controller starting");
    while (!this.#stopper.signal.aborted && !(await this.#runOnce())) await this.#waitForRestart();
    this.#mode = "ended";
    this.#slot.close();
    this.#log.debug("controller finished");
  }

  stop(reason: unknown): void {
    this.#stopper.abort(reason);
    this.#slot.close();
  }

  activities(): readonly string[] {
    if (this.#mode === "ended") return [];
    const own = this.#declared.controller.run === undefined ? "its reconcile" : "its run";
    return [own, ...this.#calls.describe()];
  }

  explain(): ControllerExplanation {
    const idle = this.#slot.full ? "waiting" : "idle";
    return {
      controller: this.name,
      form: "classic",
      state: this.#mode === "idle" ? idle : this.#mode,
      dueInMs: this.#resumesAtMs && Math.max(0, this.#resumesAtMs - this.#parts.clock.monotonic()),
      changedMeanwhile: this.#mode !== "idle" && this.#slot.full,
      outcomes: this.#outcomes.of(WHOLE),
      lastError: this.#lastError,
    };
  }

  /** True when the controller has ended for good. */
  async #runOnce(): Promise<boolean> {
    const { controller } = this.#declared;
    this.#mode = "running";
    this.#startedAtMs = this.#parts.clock.monotonic();
    this.#inCycle = false;
    try {
      if (controller.run === undefined) await this.#reconcileLoop(controller);
      else await controller.run(this.#runContext());
      return true;
    } catch (thrown) {
      const { signal } = this.#stopper;
      if (signal.aborted && isCancellation(thrown, signal)) return true;
      this.#lastError = toError(thrown, `controller ${JSON.stringify(this.name)}`);
      this.#metrics.crashes++;
      return false;
    } finally {
      this.#tracker.drop();
      this.#slot.abandon();
    }
  }

  async #waitForRestart(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopper;
    const delayMs = this.#backoff.next();
    this.#outcomes.add(WHOLE, {
      kind: "failed",
      atMs: clock.now(),
      tookMs: clock.monotonic() - this.#startedAtMs,
      reason: this.#lastError?.message,
      againAfterMs: delayMs,
    });
    this.#log.error("controller failed", { error: this.#lastError });
    this.#log.debug("restarting controller", { intervalMs: delayMs });
    this.#mode = "backoff";
    this.#resumesAtMs = clock.monotonic() + delayMs;
    await sleepUnlessAborted(clock, delayMs, signal);
    this.#resumesAtMs = undefined;
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
      await controller.reconcile?.(context);
      if (this.#tracker.tracking) await this.#cleanup(kinds);
      this.#backoff.reset();
    }
  }

  #runContext(): RunContext {
    return {
      ...this.#context(),
      wakeups: { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) },
      resetRestartBackoff: () => this.#backoff.reset(),
      startTrackingOutputs: () => this.#tracker.start(),
      cleanupOutputs: async (...kinds) => {
        await this.#cleanup(kinds);
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
      updateInputs: (inputs: readonly Input[]) => this.#updateInputs(inputs),
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
      this.#mode = "running";
      this.#startedAtMs = clock.monotonic();
      this.#inCycle = true;
    }
    return taken;
  }

  #cleanup(kinds: readonly Kind[]): Promise<void> {
    return this.#tracker.cleanup(kinds, this.#state);
  }

  /** The last call wins, whichever watches open first. */
  async #updateInputs(inputs: readonly Input[]): Promise<void> {
    const declared = declareClassicInputs(this.name, inputs);
    const call = ++this.#inputsAsked;
    await this.#parts.watchInputs(this.name, declared);
    if (call < this.#inputsInForce) {
      throw new Error(`the inputs of controller ${JSON.stringify(this.name)} were replaced by a later updateInputs`);
    }
    this.#inputsInForce = call;
    this.#parts.replaceInputs(this.name, declared);
    this.#allow(new Access(this.name, declared, this.#declared.outputs));
  }
}
