import { WakeUpCauses, type IsOwn } from "../causes/wake-up-causes.ts";
import type { Backoff } from "../../clock/index.ts";
import { NOT_WAITING, ReleaseOrder, type Releasable } from "./release-order.ts";

/** Items that a queue may pool although nothing is to be done for them. */
const MIN_POOLED = 1024;

/** The keys of one job on one kind: what a queue item does, and for which ids. */
export class KindQueue<Value, Job> {
  readonly job: Job;
  /**
   * Items that wait or are in flight, and pooled ones: while there is a backlog, most keys come again, and taking an
   * item out of a large map only to put it back costs more than anything else in the queue.
   */
  readonly #items = new Map<string, Item<Value, Job>>();
  #pooled = 0;

  constructor(job: Job) {
    this.job = job;
  }

  /** Items in memory. */
  get kept(): number {
    return this.#items.size;
  }

  /** The item of a key that waits or is in flight. */
  find(id: string): Item<Value, Job> | undefined {
    const item = this.#items.get(id);
    return item?.isPooled === true ? undefined : item;
  }

  /** The item of a key, which is going to wait. */
  open(id: string, value: Value): Item<Value, Job> {
    const item = this.#items.get(id);
    if (item === undefined) {
      const added = new Item(this, id, value);
      this.#items.set(id, added);
      return added;
    }
    if (item.isPooled) this.#pooled--;
    item.value = value;
    return item;
  }

  /** Nothing is to be done for one more item. Bounds the pooled ones by those that are not. */
  pool(): void {
    if (++this.#pooled <= MIN_POOLED + 2 * (this.#items.size - this.#pooled)) return;
    if (this.#pooled === this.#items.size) this.#items.clear();
    else for (const [id, item] of this.#items) if (item.isPooled) this.#items.delete(id);
    this.#pooled = 0;
  }
}

/** What is known of a key that keeps failing. */
export interface Failures {
  readonly backoff: Backoff;
  /** What it failed with last. */
  failure: Error | undefined;
}

/** One key of a queue, from its first put until it is done. */
export class Item<Value, Job> implements Releasable {
  readonly kindQueue: KindQueue<Value, Job>;
  readonly id: string;
  /** What came with the latest put. */
  value: Value;
  releaseAtMs = 0;
  sequence = 0;
  slot: number = NOT_WAITING;
  /** Whether a worker processes it; `dirty` when it was put again meanwhile. */
  processing: "no" | "yes" | "dirty" = "no";
  /** Set while the key keeps failing. */
  failures: Failures | undefined = undefined;
  /** What put it since it was taken last; undefined when nothing did, and it waits for its time. */
  causes: WakeUpCauses | "foreign" | undefined = undefined;
  /** Whether nothing but the controller's own writes put it before the run that it is in; absent when something else did. */
  isOwn: IsOwn | undefined = undefined;
  /** Puts in a row that its own writes alone caused. */
  ownPuts = 0;

  constructor(kindQueue: KindQueue<Value, Job>, id: string, value: Value) {
    this.kindQueue = kindQueue;
    this.id = id;
    this.value = value;
  }

  /** True when it neither waits nor is in flight. */
  get isPooled(): boolean {
    return this.slot === NOT_WAITING && this.processing === "no";
  }
}

/**
 * A queue of keys: a key that waits is there once, however often it is put, and no two workers ever process it at once.
 *
 * A key is *waiting* (due now, or at a time), or *in flight* (taken). Put while in flight, it is *dirty* and waits again
 * once it is released: a change that comes during the work beats any backoff, unless the controller made it itself. All
 * times are monotonic milliseconds.
 */
export class ItemQueue<Value, Job> {
  readonly #order = new ReleaseOrder<Item<Value, Job>>();
  readonly #onOwnPut: (item: Item<Value, Job>) => void;
  #dirty = 0;
  #closed = false;

  /** @param onOwnPut - Called when nothing but the controller's own writes put a key. */
  constructor(onOwnPut: (item: Item<Value, Job>) => void = () => undefined) {
    this.#onOwnPut = onOwnPut;
  }

  /** Keys that wait, dirty ones included; those in flight do not count. */
  get length(): number {
    return this.#order.length + this.#dirty;
  }

  /**
   * Makes a key due now, with a new value. A key that waits after a failure keeps waiting when the controller itself made
   * the change. After {@link close} it does nothing.
   *
   * @param isOwn - Whether the controller made the change itself. Default: it did not.
   */
  put(kindQueue: KindQueue<Value, Job>, id: string, value: Value, nowMs: number, isOwn?: IsOwn): void {
    if (this.#closed) return;
    // While the item is in flight its worker has what it needs of the old value already.
    const item = kindQueue.open(id, value);
    if (item.processing === "no") {
      if (item.failures !== undefined && item.slot !== NOT_WAITING && isOwn?.() === true) this.#noteOwn(item);
      else {
        addCause(item, isOwn);
        this.#order.push(item, nowMs, nowMs);
      }
      return;
    }
    addCause(item, isOwn);
    if (item.processing === "yes") {
      item.processing = "dirty";
      this.#dirty++;
    }
  }

  /** The next item that is due; it is then in flight until {@link release} or {@link requeue}. */
  take(nowMs: number): Item<Value, Job> | undefined {
    if (this.#closed || this.#order.peek(nowMs) === undefined) return undefined;
    const item = this.#order.pop();
    if (item === undefined) return undefined;
    item.processing = "yes";
    const { causes } = item;
    item.causes = undefined;
    item.isOwn = causes === undefined || causes === "foreign" ? undefined : causes.take();
    if (item.isOwn?.() === true) this.#noteOwn(item);
    else if (causes !== undefined || item.failures === undefined) item.ownPuts = 0;
    return item;
  }

  isDue(nowMs: number): boolean {
    return !this.#closed && this.#order.peek(nowMs) !== undefined;
  }

  /** Milliseconds until an item is due; undefined when none waits. */
  delay(nowMs: number): number | undefined {
    return this.#order.delay(nowMs);
  }

  /** The work on an item is over. Releasing twice does nothing. */
  release(item: Item<Value, Job>, nowMs: number): void {
    this.#settle(item, undefined, nowMs);
  }

  /** The work on an item is over, and it is due again at `atMs`, or now if it was put meanwhile. */
  requeue(item: Item<Value, Job>, atMs: number, nowMs: number): void {
    this.#settle(item, atMs, nowMs);
  }

  /** Nothing is put or taken any more. */
  close(): void {
    this.#closed = true;
  }

  #settle(item: Item<Value, Job>, atMs: number | undefined, nowMs: number): void {
    const { processing } = item;
    if (processing === "no") return;
    item.processing = "no";
    if (processing === "dirty") {
      this.#dirty--;
      this.#order.push(item, this.#isHeldBack(item) ? (atMs ?? nowMs) : nowMs, nowMs);
    } else if (atMs === undefined) {
      item.kindQueue.pool();
    } else {
      this.#order.push(item, atMs, nowMs);
    }
  }

  /** True when the key failed, and only its controller's own writes put it meanwhile. */
  #isHeldBack(item: Item<Value, Job>): boolean {
    const { causes, failures } = item;
    if (failures === undefined || causes === undefined || causes === "foreign" || !causes.isOwn()) return false;
    item.causes = undefined;
    this.#noteOwn(item);
    return true;
  }

  #noteOwn(item: Item<Value, Job>): void {
    item.ownPuts++;
    this.#onOwnPut(item);
  }
}

function addCause<Value, Job>(item: Item<Value, Job>, isOwn: IsOwn | undefined): void {
  if (isOwn === undefined || item.causes === "foreign") {
    item.causes = "foreign";
    return;
  }
  const causes = item.causes ?? new WakeUpCauses();
  causes.add(isOwn);
  item.causes = causes;
}
