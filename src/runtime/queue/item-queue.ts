import { WakeUpCauses, type IsOwn } from "../wake-up-causes.ts";
import type { Backoff } from "../../internal/backoff.ts";
import { NOT_WAITING, ReleaseOrder, type Releasable } from "./release-order.ts";

/** Items that a lane may keep although nothing is to be done for them. */
const MIN_SPARE = 1024;

/** The keys of one job on one kind: what a queue item does, and for which ids. */
export class Lane<Value, Job> {
  readonly job: Job;
  /**
   * Items that wait or are in flight, and spare ones: while there is a backlog, most keys come again, and taking an
   * item out of a large map only to put it back costs more than anything else in the queue.
   */
  readonly #items = new Map<string, Item<Value, Job>>();
  #spare = 0;

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
    return item?.isSpare === true ? undefined : item;
  }

  /** The item of a key, which is going to wait. */
  open(id: string, value: Value): Item<Value, Job> {
    const item = this.#items.get(id);
    if (item === undefined) {
      const added = new Item(this, id, value);
      this.#items.set(id, added);
      return added;
    }
    if (item.isSpare) this.#spare--;
    item.value = value;
    return item;
  }

  /** Nothing is to be done for one more item. Bounds the spare ones by those that are not. */
  spared(): void {
    if (++this.#spare <= MIN_SPARE + 2 * (this.#items.size - this.#spare)) return;
    if (this.#spare === this.#items.size) this.#items.clear();
    else for (const [id, item] of this.#items) if (item.isSpare) this.#items.delete(id);
    this.#spare = 0;
  }
}

/** What is known of a key that keeps failing. */
export interface Trouble {
  readonly backoff: Backoff;
  /** What it failed with last. */
  failure: Error | undefined;
}

/** One key of a queue, from its first put until it is done. */
export class Item<Value, Job> implements Releasable {
  readonly lane: Lane<Value, Job>;
  readonly id: string;
  /** What came with the latest put. */
  value: Value;
  releaseAtMs = 0;
  sequence = 0;
  slot: number = NOT_WAITING;
  /** In whose hands it is: nobody's, a worker's, or a worker's while it was put again. */
  hands: "nobody" | "worker" | "held" = "nobody";
  /** Set while the key keeps failing. */
  trouble: Trouble | undefined = undefined;
  /** What put it since it was taken last; undefined when nothing did, and it waits for its time. */
  causes: WakeUpCauses | "foreign" | undefined = undefined;
  /** Whether nothing but the controller's own writes put it before the run that it is in; absent when somebody else did. */
  isOwn: IsOwn | undefined = undefined;
  /** Puts in a row that its own writes alone caused. */
  ownPuts = 0;

  constructor(lane: Lane<Value, Job>, id: string, value: Value) {
    this.lane = lane;
    this.id = id;
    this.value = value;
  }

  /** True when it neither waits nor is in flight. */
  get isSpare(): boolean {
    return this.slot === NOT_WAITING && this.hands === "nobody";
  }
}

/**
 * A queue of keys: a key that waits is there once, however often it is put, and is never in two hands at once.
 *
 * A key is *waiting* (due now, or at a time), or *in flight* (taken). Put while in flight, it is *held* and waits again
 * once it is released: a change that comes during the work beats any backoff, unless the controller made it itself. All
 * times are monotonic milliseconds.
 */
export class ItemQueue<Value, Job> {
  readonly #order = new ReleaseOrder<Item<Value, Job>>();
  readonly #onOwnPut: (item: Item<Value, Job>) => void;
  #held = 0;
  #closed = false;

  /** @param onOwnPut - Called when nothing but the controller's own writes put a key. */
  constructor(onOwnPut: (item: Item<Value, Job>) => void = () => undefined) {
    this.#onOwnPut = onOwnPut;
  }

  /** Keys that wait, held ones included; those in flight do not count. */
  get length(): number {
    return this.#order.length + this.#held;
  }

  /**
   * Makes a key due now, with a new value. A key that waits after a failure keeps waiting when the controller itself made
   * the change. After {@link close} it does nothing.
   *
   * @param isOwn - Whether the controller made the change itself. Default: it did not.
   */
  put(lane: Lane<Value, Job>, id: string, value: Value, nowMs: number, isOwn?: IsOwn): void {
    if (this.#closed) return;
    // While the item is in flight its worker has what it needs of the old value already.
    const item = lane.open(id, value);
    if (item.hands === "nobody") {
      if (item.trouble !== undefined && item.slot !== NOT_WAITING && isOwn?.() === true) this.#noteOwn(item);
      else {
        addCause(item, isOwn);
        this.#order.push(item, nowMs, nowMs);
      }
      return;
    }
    addCause(item, isOwn);
    if (item.hands === "worker") {
      item.hands = "held";
      this.#held++;
    }
  }

  /** The next item that is due; it is then in flight until {@link release} or {@link requeue}. */
  take(nowMs: number): Item<Value, Job> | undefined {
    if (this.#closed || this.#order.peek(nowMs) === undefined) return undefined;
    const item = this.#order.pop();
    if (item === undefined) return undefined;
    item.hands = "worker";
    const { causes } = item;
    item.causes = undefined;
    item.isOwn = causes === undefined || causes === "foreign" ? undefined : causes.take();
    if (item.isOwn?.() === true) this.#noteOwn(item);
    else if (causes !== undefined || item.trouble === undefined) item.ownPuts = 0;
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
    const { hands } = item;
    if (hands === "nobody") return;
    item.hands = "nobody";
    if (hands === "held") {
      this.#held--;
      this.#order.push(item, this.#isHeldBack(item) ? (atMs ?? nowMs) : nowMs, nowMs);
    } else if (atMs === undefined) {
      item.lane.spared();
    } else {
      this.#order.push(item, atMs, nowMs);
    }
  }

  /** True when the key failed, and only its controller's own writes put it meanwhile. */
  #isHeldBack(item: Item<Value, Job>): boolean {
    const { causes, trouble } = item;
    if (trouble === undefined || causes === undefined || causes === "foreign" || !causes.isOwn()) return false;
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
