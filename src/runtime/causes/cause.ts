import type { Metadata } from "../../resource/index.ts";
import type { WriteLedger, Written } from "./write-ledger.ts";

/** Events of one change whose writer is not known yet, at most. More of them count as somebody else's. */
const MAX_OPEN = 64;

interface Shown {
  readonly metadata: Metadata;
  readonly content: Written;
}

/**
 * Who made a change that waits for its delivery, or for its turn. An event can come before the response to the write
 * that it shows; so the question is answered as late as possible.
 */
export class Cause {
  readonly #ledger: WriteLedger;
  #open: Shown[] = [];
  #writer: string | undefined;
  #isMixed = false;

  constructor(ledger: WriteLedger) {
    this.#ledger = ledger;
  }

  /** One more event is part of the change. */
  add(metadata: Metadata, content: Written): void {
    if (this.#isMixed) return;
    if (this.#open.length === MAX_OPEN) this.#resolve();
    if (this.#open.length === MAX_OPEN) this.#mix();
    else this.#open.push({ metadata, content });
  }

  /** What happened is not known. */
  addUnknown(): void {
    this.#mix();
  }

  /** True when all of the change was written by this controller, as far as is known by now. */
  isOnly(controller: string): boolean {
    this.#resolve();
    return !this.#isMixed && this.#open.length === 0 && this.#writer === controller;
  }

  #resolve(): void {
    const open = this.#open;
    this.#open = [];
    for (const shown of open) {
      const writer = this.#ledger.takeWriter(shown.metadata, shown.content);
      if (writer === undefined) this.#open.push(shown);
      else if (this.#writer === undefined) this.#writer = writer;
      else if (this.#writer !== writer) this.#mix();
    }
  }

  #mix(): void {
    this.#isMixed = true;
    this.#open = [];
  }
}
