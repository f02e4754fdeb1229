/** Tells whether the controller that is woken made the change itself; asked late, when that is known. */
export type IsOwn = () => boolean;

/** Changes that are kept for the question; more of them count as somebody else's. */
const MAX_CHANGES = 64;

/** What woke a controller, or put a key, since it ran last: nothing but its own writes, or somebody else as well. */
export class WakeUpCauses {
  #changes: readonly IsOwn[] = [];
  #isForeign = false;

  /** @param isOwn - Absent: somebody else's. */
  add(isOwn: IsOwn | undefined): void {
    if (this.#isForeign) return;
    if (isOwn !== undefined && this.#changes.length < MAX_CHANGES) this.#changes = [...this.#changes, isOwn];
    else this.#isForeign = true;
  }

  /** The question for all of it, undefined when somebody else was part of it or there was nothing. Starts over. */
  take(): IsOwn | undefined {
    const changes = this.#changes;
    const isForeign = this.#isForeign;
    this.#changes = [];
    this.#isForeign = false;
    return isForeign || changes.length === 0 ? undefined : () => changes.every((isOwn) => isOwn());
  }

  /** Whether all of it is its own, as far as is known by now. */
  isOwn(): boolean {
    return !this.#isForeign && this.#changes.length > 0 && this.#changes.every((isOwn) => isOwn());
  }
}

/** True for 100, 1000, 10,000 and so on: numbers of wake-ups in a row after which a person should hear of it. */
export function isWorthALine(times: number): boolean {
  return times >= 100 && Number.isInteger(Math.log10(times));
}
