// The client of the two-way load, in a process of its own:
//
//   node --conditions=source bench/load/client.ts ADDRESS SEED ROUNDS SCALE
//
// Each round does a random selection of work in both directions at once, over a connection of its own, and prints a line
// when all of it is done. A round that does not end has stopped. SCALE is a part of the usual number of calls.

import { createResource, OpaqueSpec, type Resource, type State } from "homeostat";
import { connect } from "homeostat/grpc";

import { seededRandom } from "./seeded-random.ts";

const WATCHERS = 100;
const EVENT_BYTES = 20_000;

type Work = (state: State, namespace: string, random: () => number) => Promise<unknown>;

const [endpoint = "", seed = "1", rounds = "1", scale = "1"] = process.argv.slice(2);

const between = (random: () => number, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

/** As many calls as the scale makes of that. */
const some = (random: () => number, least: number, most: number): number =>
  Math.ceil(between(random, least, most) * Number(scale));

const resource = (namespace: string, type: string, id: string, bytes: number): Resource =>
  createResource({ namespace, type, id }, new OpaqueSpec({ yaml: "x".repeat(bytes) }));

/** Creations all at once. */
const creates =
  (type: string, bytes: number, least: number, most: number): Work =>
  (state, namespace, random) => {
    const count = some(random, least, most);
    return Promise.all(
      Array.from({ length: count }, (_, i) => state.create(resource(namespace, type, `r${i}`, bytes))),
    );
  };

const largeGets: Work = async (state, namespace, random) => {
  const large = resource(namespace, "Larges.load.dev", "large", between(random, 10_000, 400_000));
  await state.create(large);
  await Promise.all(Array.from({ length: some(random, 50, 300) }, () => state.get(large.metadata)));
};

const largeCreates: Work = (state, namespace, random) =>
  Promise.all(
    Array.from({ length: some(random, 2, 12) }, (_, i) =>
      state.create(resource(namespace, "Giants.load.dev", `r${i}`, between(random, 200_000, 1_500_000))),
    ),
  );

const lists: Work = async (state, namespace, random) => {
  const type = "Listed.load.dev";
  await Promise.all(Array.from({ length: 100 }, (_, i) => state.create(resource(namespace, type, `r${i}`, 5_000))));
  await Promise.all(Array.from({ length: some(random, 5, 20) }, () => state.list({ namespace, type })));
};

/** Watchers that each see every event, which is 20 KB. */
const watches: Work = async (state, namespace, random) => {
  const type = "Watched.load.dev";
  const events = some(random, 5, 15);
  const seen = Array.from({ length: WATCHERS }, async () => {
    await using watch = await state.watchKindBatches({ namespace, type }, { bootstrap: true });
    let count = 0;
    for await (const batch of watch) {
      for (const event of batch) if (event.type === "Created") count += 1;
      if (count >= events) return;
    }
  });
  for (let i = 0; i < events; i++) await state.create(resource(namespace, type, `r${i}`, EVENT_BYTES));
  await Promise.all(seen);
};

/** Watches that are opened and ended again. */
const cancellations: Work = (state, namespace, random) =>
  Promise.all(
    Array.from({ length: some(random, 50, 500) }, async () => {
      const watch = await state.watchKind({ namespace, type: "Watched.load.dev" }, { bootstrap: true });
      await watch[Symbol.asyncDispose]();
    }),
  );

const WORK: readonly Work[] = [
  creates("Mediums.load.dev", 20_000, 100, 400),
  creates("Smalls.load.dev", 100, 500, 5_000),
  largeGets,
  largeCreates,
  lists,
  watches,
  cancellations,
];

async function main(): Promise<void> {
  for (let round = 0; round < Number(rounds); round++) {
    const random = seededRandom(Number(seed) + round);
    await using state = connect(endpoint);
    // The same few over and over: what a kind remembers of the past is kept with the kind.
    const namespace = `round-${seed}-${round % 4}`;
    // Two kinds of work at least, each up to twice: the second time beside the first.
    const chosen = WORK.filter(() => random() < 0.6);
    const work = chosen.length >= 2 ? chosen : WORK;
    await Promise.all(
      work.flatMap((one, index) => {
        const both = random() < 0.3 ? ["a", "b"] : ["a"];
        return both.map((name) => one(state, `${namespace}-${index}${name}`, random));
      }),
    );
    console.log(`round ${round}`);
    await clear(state, namespace, work.length);
  }
}

/** The server is the same for all rounds: it must not fill up. */
async function clear(state: State, namespace: string, works: number): Promise<void> {
  const types = ["Mediums", "Smalls", "Larges", "Giants", "Listed", "Watched"];
  for (let index = 0; index < works; index++) {
    for (const name of ["a", "b"]) {
      for (const type of types) {
        const kind = { namespace: `${namespace}-${index}${name}`, type: `${type}.load.dev` };
        for (const { metadata } of await state.list(kind)) await state.destroy(metadata);
      }
    }
  }
}

await main();
