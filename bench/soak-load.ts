import { setTimeout as sleep } from "node:timers/promises";
import { defineResource, isConflict, isNotFound, shape, type ResourceType, type State } from "homeostat";

export interface SoakSpec {
  readonly text: string;
  readonly round: number;
}

export const Item: ResourceType<SoakSpec, "Items.soak.example.dev"> = defineResource({
  type: "Items.soak.example.dev",
  namespace: "default",
  spec: shape({ text: "string", round: "integer" }),
});

export interface SoakOptions {
  /** Where watchers open their watches: they are spread evenly. */
  readonly watched: readonly State[];
  /** Where writers write. */
  readonly written: State;
  readonly watchers: number;
  readonly writers: number;
  /** Resources that exist at a time, about. */
  readonly resources: number;
  /** Bytes of text in each of them. */
  readonly textBytes: number;
}

/** Numbers from 0 up to, but not including, 1, the same ones for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Watchers that join, read for a while and leave, over and over, while writers update, destroy and create. */
export class SoakLoad {
  /** Watches opened so far. */
  joined = 0;
  /** Watches left so far. */
  left = 0;
  writes = 0;
  events = 0;
  readonly #options: SoakOptions;

  constructor(options: SoakOptions) {
    this.#options = options;
  }

  /** Creates all resources. */
  async fill(): Promise<void> {
    const { written, resources } = this.#options;
    for (let index = 0; index < resources; index++) await written.create(this.#item(index, 0));
  }

  /** Runs until the signal aborts; rejects with what went wrong. Nothing is open afterwards. */
  async run(signal: AbortSignal): Promise<void> {
    const { watchers, writers, watched } = this.#options;
    const work: Promise<void>[] = [];
    for (let index = 0; index < watchers; index++) {
      const state = watched[index % watched.length];
      if (state !== undefined) work.push(this.#watch(state, randomNumbers(index), signal));
    }
    for (let index = 0; index < writers; index++) work.push(this.#write(randomNumbers(1_000 + index), signal));
    await Promise.all(work);
  }

  async #watch(state: State, random: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const kind = Math.floor(random() * 3);
      // Changes of one resource are rare.
      const count = 1 + Math.floor(random() * (kind === 0 ? 2 : 100));
      const id = String(Math.floor(random() * this.#options.resources));
      const watch =
        kind === 0
          ? await state.watch(Item.ref(id), { signal })
          : await state.watchKind(Item, { signal, bootstrap: kind === 1 });
      this.joined++;
      try {
        for (let read = 0; read < count; read++) {
          if ((await watch.next()).done === true) break;
          this.events++;
        }
      } finally {
        await watch[Symbol.asyncDispose]();
        this.left++;
      }
    }
  }

  async #write(random: () => number, signal: AbortSignal): Promise<void> {
    const { written, resources } = this.#options;
    for (let round = 1; !signal.aborted; round++) {
      const index = Math.floor(random() * resources);
      const ref = Item.ref(String(index));
      try {
        if (random() < 0.8) await written.updateWithConflicts(ref, (spec) => ({ ...spec, round }));
        else {
          await written.destroy(ref);
          await written.create(this.#item(index, round));
        }
        this.writes++;
      } catch (error) {
        // Two writers met at one resource.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
      // Leaves the watchers time to read.
      await sleep(1);
    }
  }

  #item(index: number, round: number) {
    return Item.create(String(index), { text: String(index).padEnd(this.#options.textBytes, "x"), round });
  }
}
