import type { QueueContext } from "../../controller/index.ts";
import type { Timer } from "../../clock/index.ts";
import { toError } from "../../internal/to-error.ts";
import type { Logger } from "../../log/index.ts";
import type { AdapterParts, DeclaredQueue } from "../adapter.ts";
import { openFacade } from "../guard/open-facade.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";

/**
 * The last that a queue controller does. The rest of it has been stopped and can write no more, so the hook has a view of
 * the State of its own, which works until the grace time of the stop is over.
 */
export class ShutdownHook {
  readonly #parts: AdapterParts;
  readonly #declared: DeclaredQueue;
  readonly #metrics: ControllerMetrics;
  readonly #log: Logger;
  readonly #stopper = new AbortController();
  #grace: Timer | undefined;

  constructor(parts: AdapterParts, declared: DeclaredQueue, metrics: ControllerMetrics, log: Logger) {
    this.#parts = parts;
    this.#declared = declared;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** The controller is asked to stop: the grace time begins. */
  startGrace(): void {
    const { clock, shutdownGraceMs } = this.#parts;
    if (shutdownGraceMs === Infinity) return;
    this.#grace ??= clock.schedule(shutdownGraceMs, () => {
      this.#stopper.abort(new DOMException("the grace time of the stop is over", "AbortError"));
    });
  }

  /** Calls the hook. What it throws is logged. */
  async run(): Promise<void> {
    const { controller, name } = this.#declared;
    const { signal } = this.#stopper;
    try {
      if (controller.shutdownHook === undefined) return;
      const { state } = openFacade(this.#parts, this.#declared, this.#metrics, this.#log, signal);
      const context: QueueContext = { state, log: this.#log, signal, clock: this.#parts.clock };
      await controller.shutdownHook(context);
    } catch (thrown) {
      this.#log.error("shutdown hook failed", { error: toError(thrown, `the shutdown hook of ${name}`) });
    } finally {
      this.#grace?.cancel();
      this.#stopper.abort(new DOMException("the shutdown hook has ended", "AbortError"));
    }
  }
}
