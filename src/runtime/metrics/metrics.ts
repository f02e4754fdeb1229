import { compareText } from "../../internal/compare-text.ts";

/** What is counted for one controller: plain fields, so that counting is an addition. */
export class ControllerMetrics {
  crashes = 0;
  skips = 0;
  requeues = 0;
  ownWakeUps = 0;
  wakeups = 0;
  reads = 0;
  writes = 0;
  itemCrashes = 0;
  itemSkips = 0;
  itemRequeues = 0;
  itemsProcessed = 0;
  mappedIn = 0;
  mappedOut = 0;
  queueLength = 0;
  mapBusySeconds = 0;
  reconcileBusySeconds = 0;
}

/** A number that goes up and down. */
export class Gauge {
  value = 0;
}

/** Metric name → field. Classic and queue controllers share `reads` and `writes`. */
const CONTROLLER_METRICS: Readonly<Record<string, keyof ControllerMetrics>> = {
  controller_crashes: "crashes",
  controller_own_wakeups: "ownWakeUps",
  controller_reads: "reads",
  controller_requeues: "requeues",
  controller_skips: "skips",
  controller_wakeups: "wakeups",
  controller_writes: "writes",
  qcontroller_crashes: "itemCrashes",
  qcontroller_map_busy: "mapBusySeconds",
  qcontroller_mapped_in: "mappedIn",
  qcontroller_mapped_out: "mappedOut",
  qcontroller_processed: "itemsProcessed",
  qcontroller_queue_length: "queueLength",
  qcontroller_reconcile_busy: "reconcileBusySeconds",
  qcontroller_requeues: "itemRequeues",
  qcontroller_skips: "itemSkips",
};

/** Metric name → label → number; both sorted. */
export type MetricsSnapshot = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * The numbers of one or more runtimes. The label is the controller's name, or the resource type for
 * `cached_resources`. What was never counted is absent, and means 0. Busy times are in seconds.
 */
export class MetricsRegistry {
  readonly #controllers = new Map<string, ControllerMetrics>();
  readonly #cached = new Map<string, Gauge>();

  /** The numbers of one controller, to count into. */
  controller(name: string): ControllerMetrics {
    let metrics = this.#controllers.get(name);
    if (metrics === undefined) this.#controllers.set(name, (metrics = new ControllerMetrics()));
    return metrics;
  }

  /** Number of cached resources of a type, over all namespaces. */
  cachedResources(type: string): Gauge {
    let gauge = this.#cached.get(type);
    if (gauge === undefined) this.#cached.set(type, (gauge = new Gauge()));
    return gauge;
  }

  /** One number now; 0 when nothing of the kind was counted. */
  value(metric: string, label: string): number {
    return this.snapshot()[metric]?.[label] ?? 0;
  }

  /** All numbers now, as plain data. */
  snapshot(): MetricsSnapshot {
    const snapshot: Record<string, Readonly<Record<string, number>>> = {};
    snapshot["cached_resources"] = labelled(this.#cached, ({ value }) => value);
    for (const [metric, field] of Object.entries(CONTROLLER_METRICS)) {
      snapshot[metric] = labelled(this.#controllers, (metrics) => metrics[field]);
    }
    return snapshot;
  }

  /** {@link snapshot} as the object that expvar serves: each metric also under the prefix `cosi_`, names sorted. */
  toJSON(): MetricsSnapshot {
    const snapshot = this.snapshot();
    const prefixed = Object.entries(snapshot).map(([name, values]) => [`cosi_${name}`, values] as const);
    const both = [...Object.entries(snapshot), ...prefixed].sort(([a], [b]) => compareText(a, b));
    return Object.fromEntries(both);
  }
}

/** Without a prototype: a controller may be called `__proto__`. */
function labelled<T>(source: ReadonlyMap<string, T>, read: (from: T) => number): Readonly<Record<string, number>> {
  const values: Record<string, number> = Object.create(null);
  for (const [label, from] of [...source].sort(([a], [b]) => compareText(a, b))) {
    const value = read(from);
    if (value !== 0) values[label] = value;
  }
  return values;
}
