import type * as Prometheus from "prom-client";
import type { Registry, RegistryContentType } from "prom-client";
import type { MetricsRegistry } from "../runtime/index.ts";

/** How a metric of the engine is called and typed for Prometheus. Busy times are in seconds. */
interface Exposed {
  readonly name: string;
  readonly help: string;
  readonly label: "controller" | "type";
  readonly kind: "counter" | "gauge";
}

const counter = (name: string, help: string): Exposed => ({ name, help, label: "controller", kind: "counter" });

/** By the name of the engine. Every name of the registry is here: a test compares them. */
export const EXPOSED: Readonly<Record<string, Exposed>> = {
  cached_resources: {
    name: "homeostat_cached_resources",
    help: "Resources in the engine's caches.",
    label: "type",
    kind: "gauge",
  },
  controller_crashes: counter("homeostat_controller_failures_total", "Failed runs of classic controllers."),
  controller_own_wakeups: counter(
    "homeostat_controller_own_wakeups_total",
    "Wake-ups that a controller caused itself.",
  ),
  controller_reads: counter("homeostat_controller_reads_total", "Reads of the State."),
  controller_requeues: counter("homeostat_controller_requeues_total", "Classic controllers that asked to run again."),
  controller_skips: counter("homeostat_controller_skips_total", "Skipped runs of classic controllers."),
  controller_wakeups: counter("homeostat_controller_wakeups_total", "Wake-ups of classic controllers."),
  controller_writes: counter("homeostat_controller_writes_total", "Writes to the State."),
  qcontroller_crashes: counter("homeostat_queue_failures_total", "Failed jobs of queue controllers."),
  qcontroller_map_busy: counter("homeostat_queue_map_seconds_total", "Time spent in map jobs."),
  qcontroller_mapped_in: counter("homeostat_queue_mapped_in_total", "Changes that were mapped."),
  qcontroller_mapped_out: counter("homeostat_queue_mapped_out_total", "Keys that changes were mapped to."),
  qcontroller_processed: counter("homeostat_queue_processed_total", "Keys that were reconciled."),
  qcontroller_queue_length: {
    name: "homeostat_queue_length",
    help: "Keys that wait.",
    label: "controller",
    kind: "gauge",
  },
  qcontroller_reconcile_busy: counter("homeostat_queue_reconcile_seconds_total", "Time spent in reconciles."),
  qcontroller_requeues: counter("homeostat_queue_requeues_total", "Keys that asked to be looked at again."),
  qcontroller_skips: counter("homeostat_queue_skips_total", "Keys that were skipped."),
};

type AnyRegistry = Pick<Registry<RegistryContentType>, "contentType" | "metrics">;

/** Takes what a counter or a gauge shows from the engine, whenever it is read. */
const collector = (label: string, values: () => Readonly<Record<string, number>>) =>
  function (this: { reset(): void; inc(labels: Record<string, string>, value: number): void }): void {
    this.reset();
    for (const [of, value] of Object.entries(values())) this.inc({ [label]: of }, value);
  };

/** A page of metrics, and its media type. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

type Library = typeof Prometheus;

/** The numbers of an engine and of its process, for Prometheus. */
export class PrometheusPages {
  readonly #metrics: MetricsRegistry;
  readonly #library: Library;
  readonly #registries = new Map<boolean, AnyRegistry>();

  private constructor(metrics: MetricsRegistry, library: Library) {
    this.#metrics = metrics;
    this.#library = library;
  }

  /** Loads the library, which is the user's to install. @throws {Error} when it is not. */
  static async open(metrics: MetricsRegistry): Promise<PrometheusPages> {
    const library = await import("prom-client").catch((cause: unknown) => {
      throw new Error("metrics need the package prom-client: npm install prom-client", { cause });
    });
    return new PrometheusPages(metrics, library);
  }

  /** @param accept - What the client accepts; OpenMetrics only where it says so. */
  async page(accept: string): Promise<MetricsPage> {
    const isOpen = /\bapplication\/openmetrics-text\b/i.test(accept);
    let registry = this.#registries.get(isOpen);
    if (registry === undefined) this.#registries.set(isOpen, (registry = this.#register(isOpen)));
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  #register(isOpen: boolean): AnyRegistry {
    const { collectDefaultMetrics, Counter, Gauge, Registry: NewRegistry } = this.#library;
    const registry = new NewRegistry<RegistryContentType>();
    if (isOpen) registry.setContentType(NewRegistry.OPENMETRICS_CONTENT_TYPE);
    collectDefaultMetrics({ register: registry as Registry });
    for (const [key, { name, help, label, kind }] of Object.entries(EXPOSED)) {
      const values = (): Readonly<Record<string, number>> => this.#metrics.snapshot()[key] ?? {};
      const init = { name, help, labelNames: [label], registers: [registry as Registry] };
      if (kind === "counter") new Counter({ ...init, collect: collector(label, values) });
      else new Gauge({ ...init, collect: collector(label, values) });
    }
    return registry;
  }
}
