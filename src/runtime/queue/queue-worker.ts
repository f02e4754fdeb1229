import { isThenable } from "../../internal/thenable.ts";
import type { ReconcileResult } from "../../controller/index.ts";
import type { Metadata } from "../../resource/index.ts";
import type { DeclaredInput } from "../declared-input.ts";
import type { Item, KindQueue } from "./item-queue.ts";
import type { OutcomeLog } from "../explain/outcome-log.ts";

type Result = Promise<ReconcileResult> | ReconcileResult;

/** Keys of each kind whose last outcomes are kept. */
export const REMEMBERED_KEYS = 1000;

/** What is done for the keys of a kind: reconcile them, or map them to others, which are reconciled. */
export interface Job {
  readonly name: "reconcile" | "map";
  readonly input: DeclaredInput;
  readonly outcomes: OutcomeLog;
  run(item: QueueItem): Result;
}

/** Maps need the metadata that the change came with; reconciles look at what is. */
export type QueueItem = Item<readonly Metadata[], Job>;
export type JobQueue = KindQueue<readonly Metadata[], Job>;

/** What a worker works for. */
export interface WorkerHost {
  ended(worker: QueueWorker, result: ReconcileResult): void;
  failed(worker: QueueWorker, thrown: unknown): void;
}

/** One of the workers of a queue controller. It lives as long as its adapter, so that a run allocates next to nothing. */
export class QueueWorker {
  readonly #ended: (result: ReconcileResult) => void;
  readonly #failed: (thrown: unknown) => void;
  #item: QueueItem | undefined;
  startedAtMs = 0;

  constructor(host: WorkerHost) {
    this.#ended = (result) => host.ended(this, result);
    this.#failed = (thrown) => host.failed(this, thrown);
  }

  run(item: QueueItem, nowMs: number): void {
    this.#item = item;
    this.startedAtMs = nowMs;
    let result: ReconcileResult;
    try {
      const answer = item.kindQueue.job.run(item);
      if (isThenable(answer)) {
        // A promise stays itself; of any other thenable only the first answer counts.
        Promise.resolve(answer).then(this.#ended, this.#failed);
        return;
      }
      result = answer;
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    this.#ended(result);
  }

  /** The item that it works on. */
  get item(): QueueItem | undefined {
    return this.#item;
  }

  /** The item that it worked on; it then has none. */
  letGo(): QueueItem {
    const item = this.#item;
    if (item === undefined) throw new Error("a worker ended its run twice");
    this.#item = undefined;
    return item;
  }
}
