/** Something that {@link ReleaseOrder} keeps in order. It carries its own place, so that finding it costs nothing. */
export interface Releasable {
  /** Monotonic time from which on it is due. Unit: milliseconds. */
  releaseAtMs: number;
  /** Order of insertion, which breaks ties. */
  sequence: number;
  /** Where it is; written by {@link ReleaseOrder} alone. */
  slot: number;
}

/** `slot` of something that does not wait. */
export const NOT_WAITING = -1;
/** `slot` of something in the line of what was due when it came. Others stand in the heap, at their index. */
const IN_LINE = -2;

/**
 * What waits, in order of release, ties in order of insertion.
 *
 * What is due when it comes joins a line (an array with a moving head); what is due later, a binary heap. So the usual
 * case costs the same however many wait.
 */
export class ReleaseOrder<T extends Releasable> {
  #line: (T | undefined)[] = [];
  #head = 0;
  readonly #heap: T[] = [];
  #sequence = 0;

  get length(): number {
    return this.#line.length - this.#head + this.#heap.length;
  }

  /**
   * Adds an item. One that waits already keeps the earlier of both times, and its place if that does not change.
   *
   * @returns true when it was not waiting.
   */
  push(item: T, releaseAtMs: number, nowMs: number): boolean {
    if (item.slot !== NOT_WAITING) {
      if (item.slot >= 0 && releaseAtMs < item.releaseAtMs) {
        item.releaseAtMs = releaseAtMs;
        item.sequence = this.#sequence++;
        this.#siftUp(item.slot, item);
      }
      return false;
    }
    item.releaseAtMs = releaseAtMs;
    item.sequence = this.#sequence++;
    const last = this.#line.at(-1);
    if (releaseAtMs <= nowMs && (last === undefined || last.releaseAtMs <= releaseAtMs)) {
      item.slot = IN_LINE;
      this.#line.push(item);
    } else {
      this.#heap.push(item);
      this.#siftUp(this.#heap.length - 1, item);
    }
    return true;
  }

  /** The first one, if it is due. */
  peek(nowMs: number): T | undefined {
    const first = this.#first();
    return first !== undefined && first.releaseAtMs <= nowMs ? first : undefined;
  }

  /** Milliseconds until the first one is due: 0 when it is, undefined when nothing waits. */
  delay(nowMs: number): number | undefined {
    const first = this.#first();
    return first && Math.max(0, first.releaseAtMs - nowMs);
  }

  /** Removes and gives the first one, due or not. */
  pop(): T | undefined {
    const first = this.#first();
    if (first === undefined) return undefined;
    if (first.slot === IN_LINE) {
      this.#line[this.#head++] = undefined;
      if (this.#head === this.#line.length) {
        this.#line = [];
        this.#head = 0;
      } else if (this.#head >= 1024 && this.#head * 2 > this.#line.length) {
        this.#line = this.#line.slice(this.#head);
        this.#head = 0;
      }
    } else {
      const last = this.#heap.pop();
      if (last !== undefined && last !== first) this.#siftDown(last);
    }
    first.slot = NOT_WAITING;
    return first;
  }

  #first(): T | undefined {
    const inLine = this.#line[this.#head];
    const [inHeap] = this.#heap;
    if (inLine === undefined) return inHeap;
    return inHeap !== undefined && isBefore(inHeap, inLine) ? inHeap : inLine;
  }

  #siftUp(from: number, item: T): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(item, parent)) break;
      heap[at] = parent;
      parent.slot = at;
      at = parentAt;
    }
    heap[at] = item;
    item.slot = at;
  }

  /** Places `item` from the top downwards. */
  #siftDown(item: T): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const right = heap[childAt + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        child = right;
        childAt++;
      }
      if (child === undefined || !isBefore(child, item)) break;
      heap[at] = child;
      child.slot = at;
      at = childAt;
    }
    heap[at] = item;
    item.slot = at;
  }
}

function isBefore(a: Releasable, b: Releasable): boolean {
  return a.releaseAtMs < b.releaseAtMs || (a.releaseAtMs === b.releaseAtMs && a.sequence < b.sequence);
}
