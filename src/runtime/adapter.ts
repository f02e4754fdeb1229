import type { Clock } from "../clock/index.ts";
import type { Controller, Mapper, QueueController } from "../controller/index.ts";
import type { Logger } from "../log/index.ts";
import type { Kind, Pointer } from "../resource/index.ts";
import type { CoreState } from "../state/index.ts";
import type { Change } from "./change.ts";
import type { DeclaredInput } from "./declared-input.ts";
import type { DeclaredOutput } from "./graph/dependency-graph.ts";
import type { KindCache } from "./cache/kind-cache.ts";
import type { KindMap } from "./kind-map.ts";
import type { ControllerMetrics } from "./metrics/metrics.ts";
import type { AdapterStatus } from "./explain/controller-status.ts";
import type { Outcome } from "./explain/outcome-log.ts";
import type { RateLimit } from "./rate-limiter.ts";
import type { WriteLedger } from "./causes/write-ledger.ts";
import type { TurnBudget } from "./turn-budget.ts";

/** Where the changes of one input go: to a flag, or to a queue. It must not block, throw or call the controller. */
export interface Route {
  trigger(change: Change, nowMs: number): void;
  /**
   * The watch lost its place: anything of the kind may have changed. What is there now is triggered one by one.
   *
   * @param vanished - Ids of what is no more, or `triggered` when those were triggered as well.
   */
  resynced(vanished: readonly string[] | "triggered", nowMs: number): void;
}

/** What runs one controller. */
export interface Adapter {
  readonly name: string;
  /** Finalizers that it may have put on resources: its name, and what it has added. */
  readonly finalizers: ReadonlySet<string>;
  route(input: DeclaredInput): Route;
  /** The registration stands. Called once, before {@link start}. */
  registered(): void;
  /**
   * Begins to run the controller. Resolves when everything of it has ended after {@link stop}. What the controller throws
   * never rejects it; what something else throws, such as a logger, does, and that ends the runtime.
   */
  start(): Promise<void>;
  /** Asks it to stop. */
  stop(reason: unknown): void;
  /** What it is doing, for the report of a stop that hangs. Empty when it has ended. */
  activities(): readonly string[];
  /** Calls that the State, or a cache, has not answered. */
  unanswered(): readonly string[];
  explain(pointer: Pointer): ControllerExplanation;
  status(): AdapterStatus;
}

/** What one controller has to do with a resource, and how that goes. */
export interface ControllerExplanation {
  readonly controller: string;
  readonly form: "classic" | "queue";
  /**
   * Classic: whether a wake-up waits, it runs, waits to restart, or has ended. Queue: the same for the one key; `idle`
   * when nothing is to be done for it.
   */
  readonly state: "idle" | "waiting" | "running" | "backoff" | "ended";
  /** Milliseconds until it runs again, where that is known. */
  readonly dueInMs?: number | undefined;
  /** It changed while it was worked on, and runs once more afterwards. */
  readonly changedMeanwhile?: boolean | undefined;
  /** Wake-ups in a row that its own writes alone caused, also those that the wait after a failure holds back. */
  readonly ownWakeUps?: number | undefined;
  /** Oldest first. */
  readonly outcomes: readonly Outcome[];
  /** What it failed with last, until it succeeds. */
  readonly lastError?: Error | undefined;
}

/** Is told of ids that exist. */
export interface IdObserver {
  listed(ids: Iterable<string>): void;
}

/** What adapters are made of and run on. */
export interface AdapterParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly core: CoreState;
  readonly budget: TurnBudget;
  readonly caches: KindMap<KindCache>;
  /** Those caches that may lag behind the writes of this process. */
  readonly lagging: KindMap<KindCache>;
  readonly metricsOf: (controller: string) => ControllerMetrics;
  readonly changeRateLimit: RateLimit | undefined;
  readonly warnOnUncachedReads: boolean;
  readonly shutdownGraceMs: number;
  /** Watches those of the inputs that the controller does not have yet. */
  readonly watchInputs: (controller: string, inputs: readonly DeclaredInput[]) => Promise<void>;
  /** Replaces the inputs of a controller in the graph; they are watched. */
  readonly replaceInputs: (controller: string, inputs: readonly DeclaredInput[]) => void;
  /** Ids that exist, from a list of a kind. */
  readonly listed: (kind: Kind, ids: Iterable<string>) => void;
  /** Kinds of primaries whose watch can lose its place: what a read finds there is to be told of when it vanishes. */
  readonly unsteady: KindMap<IdObserver>;
  /** Who made a change. */
  readonly writes: WriteLedger;
}

interface DeclaredAnyhow {
  readonly name: string;
  readonly inputs: readonly DeclaredInput[];
  readonly outputs: readonly DeclaredOutput[];
}

/** A classic controller whose declarations were checked and copied. */
export interface DeclaredClassic extends DeclaredAnyhow {
  readonly form: "classic";
  readonly controller: Controller;
  /** Types that may become inputs later. */
  readonly dynamicTypes: readonly string[];
}

/** An input of a queue controller whose changes are mapped: by its own mapper, or else by the controller's. */
export interface DeclaredMapping {
  readonly input: DeclaredInput;
  readonly map: Mapper | undefined;
}

/** A queue controller whose declarations were checked and copied. */
export interface DeclaredQueue extends DeclaredAnyhow {
  readonly form: "queue";
  readonly controller: QueueController;
  readonly concurrency: number;
  readonly primaries: readonly DeclaredInput[];
  readonly mappings: readonly DeclaredMapping[];
}
