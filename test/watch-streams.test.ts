import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryState } from "../src/memory/index.ts";
import type { HistoryOptions } from "../src/store/index.ts";
import { isConflict, isNotFound, patchMetadata, type Resource } from "../src/resource/index.ts";
import type { State } from "../src/state/index.ts";
import { JsonBackingStore, PathResource } from "../src/testing/index.ts";
import { IDS, turn, WatchClient, watchPlan, type Rarities, type WatchPlan } from "./watch-streams-model.ts";

interface Write {
  readonly do: "write";
  readonly id: string;
  /** Undefined: destroy, if it exists. */
  readonly labels: Record<string, string> | undefined;
  readonly times: number;
}

type Step =
  | Write
  | { readonly do: "open"; readonly plan: WatchPlan }
  | { readonly do: "read"; readonly client: number; readonly times: number }
  | { readonly do: "restart" | "cancel"; readonly client: number }
  | { readonly do: "turn" | "storeDone" | "storeFails" };

const labels = fc.record({ a: fc.constantFrom("1", "2"), b: fc.constant("") }, { requiredKeys: [] });
const write: fc.Arbitrary<Write> = fc.record({
  do: fc.constant("write"),
  id: fc.constantFrom(...IDS),
  labels: fc.option(labels, { nil: undefined }),
  times: fc.integer({ min: 1, max: 4 }),
});
const client = fc.nat({ max: 5 });
const step = (plan: fc.Arbitrary<WatchPlan>, ...rest: fc.MaybeWeightedArbitrary<Step>[]): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 6, arbitrary: write },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("open"), plan }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("read"), client, times: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("restart", "cancel"), client }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("turn") }) },
    ...rest,
  );
const steps = (one: fc.Arbitrary<Step>) => fc.array(one, { maxLength: 60, size: "max" });

/** Each write starts from what it reads: whoever is overtaken gives way. */
async function perform(state: State, { id, labels: given, times }: Write): Promise<void> {
  for (let time = 0; time < times; time++) {
    try {
      const current = await state.getOrNull(PathResource, id);
      if (current === undefined) await state.create(PathResource.create(id, {}, { labels: given ?? {} }));
      else if (given === undefined) await state.destroy(current.metadata);
      else await state.update(patchMetadata(current, { labels: given }));
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error) && error !== STORE_FAILED) throw error;
    }
  }
}

const STORE_FAILED = new Error("disk full");

class Play {
  readonly rarities: Rarities = { resyncs: 0, overruns: 0, resumes: 0, expiries: 0 };
  readonly #state: State;
  readonly #clients: WatchClient[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  async take(one: Exclude<Step, Write>): Promise<void> {
    switch (one.do) {
      case "open": {
        const opened = new WatchClient(this.#state, one.plan, this.rarities);
        await opened.open();
        this.#clients.push(opened);
        break;
      }
      case "read":
        for (let time = 0; time < one.times; time++) {
          this.#pick(one.client)?.read();
          await Promise.resolve();
        }
        break;
      case "restart":
        await this.#pick(one.client)?.restart();
        break;
      case "cancel":
        this.#pick(one.client)?.cancel();
        break;
      case "turn":
      case "storeDone":
      case "storeFails":
        await turn();
        break;
    }
  }

  /** Every client that did not cancel must have come to what is there. */
  async check(): Promise<void> {
    await Promise.all(this.#clients.map((one) => one.drain()));
    for (const one of this.#clients) {
      if (!one.cancelled) expect(texts(one.contents)).toEqual(texts(await one.present()));
    }
  }

  #pick(index: number): WatchClient | undefined {
    return this.#clients[index % Math.max(1, this.#clients.length)];
  }
}

const texts = (resources: Iterable<Resource>): readonly string[] =>
  [...resources]
    .map(({ metadata }) => `${metadata.id}@${metadata.version} ${JSON.stringify(metadata.labels)}`)
    .toSorted();

const HISTORIES = {
  "a history of one event": { initialCapacity: 1, maxCapacity: 1, gap: 0 },
  "a history of 4, gap 1": { initialCapacity: 4, maxCapacity: 4, gap: 1 },
  "a history that grows from 2 to 8": { initialCapacity: 2, maxCapacity: 8, gap: 2 },
  "a history that is bounded by bytes": { initialCapacity: 100, maxCapacity: 100, gap: 2, maxBytes: 2000 },
  "a history that holds everything": { initialCapacity: 1000, maxCapacity: 1000, gap: 5 },
} as const satisfies Record<string, HistoryOptions>;

describe("whatever is written, and however it is read, a watch adds up to the list at its end", () => {
  test.each(Object.entries(HISTORIES))("with %s", async (name, history) => {
    const total: Rarities = { resyncs: 0, overruns: 0, resumes: 0, expiries: 0 };
    const property = fc.asyncProperty(steps(step(watchPlan)), async (taken) => {
      await using state = new MemoryState({ history });
      const play = new Play(state);
      for (const one of taken) await (one.do === "write" ? perform(state, one) : play.take(one));
      await play.check();
      for (const key of Object.keys(total) as (keyof Rarities)[]) total[key] += play.rarities[key];
    });
    await fc.assert(property, { numRuns: 200 });
    // The property is worth something only if what is rare was among it.
    expect(total.resumes).toBeGreaterThan(0);
    const isBounded = name !== "a history that holds everything";
    for (const count of [total.resyncs, total.overruns, total.expiries]) expect(count > 0).toBe(isBounded);
  });

  test("with a store behind the State that is slow, fails, and is asked by many at once", async () => {
    // A list and a watch that follow each other are not of the same moment while writes are under way.
    const plan = watchPlan.map((one) => ({ ...one, bootstrap: true }));
    const store: fc.Arbitrary<Step> = fc.record({ do: fc.constantFrom("storeDone", "storeDone", "storeFails") });
    let failures = 0;
    const property = fc.asyncProperty(
      fc.scheduler(),
      steps(step(plan, { weight: 5, arbitrary: store })),
      async (scheduler, taken) => {
        const backing = new JsonBackingStore();
        let failing = 0;
        backing.before = async ({ operation, pointer }) => {
          if (operation === "load") return;
          await scheduler.schedule(Promise.resolve(), `${operation} ${pointer?.id}`);
          if (failing === 0) return;
          failing--;
          failures++;
          throw STORE_FAILED;
        };
        await using state = new MemoryState({
          history: HISTORIES["a history that grows from 2 to 8"],
          backingStore: () => backing,
        });
        const play = new Play(state);
        const writes: Promise<void>[] = [];
        for (const one of taken) {
          if (one.do === "write") writes.push(perform(state, one));
          else await play.take(one);
          if (one.do === "storeDone" && scheduler.count() > 0) await scheduler.waitNext(1);
          if (one.do === "storeFails") failing++;
        }
        await scheduler.waitFor(Promise.all(writes));
        await play.check();
        expect(backing.texts.size).toBe((await state.list(PathResource)).length);
      },
    );
    await fc.assert(property, { numRuns: 200 });
    expect(failures).toBeGreaterThan(0);
  });
});
