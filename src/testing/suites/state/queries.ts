import assert from "node:assert/strict";
import {
  equal,
  exists,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  not,
  oneOf,
  type LabelQuery,
} from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import { inBothForms } from "./watch-kind.ts";
import { idsOf, type Scenario, type World } from "./world.ts";

const LABELS = {
  A: { app: "app1", frozen: "", weight: "10kg" },
  B: { app: "app2", frozen: "", weight: "20kg" },
  C: { app: "app3" },
} as const;

async function createThree(world: World): Promise<void> {
  for (const [id, labels] of Object.entries(LABELS)) await world.create(id, { labels });
}

/** The list that a query gives, and a watch's bootstrap with the same query, hold exactly `ids`. */
const matching = (name: string, labels: LabelQuery | readonly LabelQuery[], ids: readonly string[]): Scenario => ({
  name,
  run: async (world) => {
    await createThree(world);
    const list = await world.state.list(world.kind, { labels });
    assert.deepEqual(idsOf(list), ids);
    for (const { metadata } of list)
      assert.deepEqual({ ...metadata.labels }, LABELS[metadata.id as keyof typeof LABELS]);
    const reader = await world.watchKind("plain", { labels, bootstrap: true });
    await expectEvents(reader, ...list.map((resource) => ({ type: EventType.created, resource })), {
      type: EventType.bootstrapped,
    });
  },
});

const TEN = Array.from({ length: 10 }, (_, digit) => `idquery/path${digit}`);
const PATTERN = "^idquery/path[2-4]$";
const THREE = TEN.slice(2, 5);

/** Queries: section 26.7 of the specification. */
export const queries: readonly Scenario[] = [
  {
    name: "[state 41] a resource keeps its labels",
    run: async (world) => {
      await createThree(world);
      assert.equal((await world.state.get(world.kind.ref("A"))).metadata.labels["app"], "app1");
    },
  },
  matching("[state 42] [transport S16] exists", [exists("frozen")], ["A", "B"]),
  matching("[state 43] [transport S16] exists and equal", [exists("frozen"), equal("app", "app2")], ["B"]),
  matching(
    "[state 44] [transport S16] exists and equal, which nothing meets together",
    [exists("frozen"), equal("app", "app3")],
    [],
  ),
  matching("[state 45] [transport S16] equal", [equal("app", "app3")], ["C"]),
  matching("[state 46] [transport S16] one of several values", [oneOf("app", "app2", "app3")], ["B", "C"]),
  matching("[state 47] [transport S16] numerically less", [lessThanNumeric("weight", "12000")], ["A"]),
  matching("[state 48] [transport S16] numerically less or equal", [lessOrEqualNumeric("weight", "20000")], ["A", "B"]),
  matching("[state 49] [transport S16] less or equal as text", [lessOrEqual("app", "app2")], ["A", "B"]),
  matching("[state 50] [transport S16] less as text", [lessThan("app", "app2")], ["A"]),
  matching(
    "[state 51] [transport S16] either of two queries",
    [[equal("app", "app2")], [equal("app", "app3")]],
    ["B", "C"],
  ),
  matching("no terms match everything", [], ["A", "B", "C"]),
  matching("an empty query among others matches everything", [[equal("app", "app1")], []], ["A", "B", "C"]),
  matching(
    "not exists and not equal match a missing label",
    [not(exists("frozen")), not(equal("weight", "10kg"))],
    ["C"],
  ),
  matching(
    "[state 184] a comparison does not match a missing label, inverted or not",
    [not(lessOrEqualNumeric("weight", "10000"))],
    ["B"],
  ),
  matching(
    "[state 184] a comparison as text does not match a missing label either",
    [not(lessThan("frozen", "z"))],
    [],
  ),
  matching(
    "[state 184] an empty list of values matches nothing, inverted whatever has the label",
    [not(oneOf("weight"))],
    ["A", "B", "C"],
  ),

  {
    name: "[state 52] [transport S17] a list by id pattern",
    run: async (world) => {
      for (const id of TEN) await world.create(id);
      assert.deepEqual(idsOf(await world.state.list(world.kind, { ids: PATTERN })), THREE);
      assert.deepEqual(
        idsOf(await world.state.list(world.kind, { ids: "path7" })),
        ["idquery/path7"],
        "found anywhere in the id",
      );
    },
  },
  ...inBothForms("[state 53] [transport S17] a watch by id pattern", async (world, form) => {
    for (const id of TEN) await world.create(id);
    const reader = await world.watchKind(form, { ids: PATTERN, bootstrap: true });
    await expectEvents(reader, ...THREE.map((id) => ({ type: EventType.created, id })), {
      type: EventType.bootstrapped,
    });
    for (const id of TEN) await world.state.destroy(world.kind.ref(id));
    const last = await world.create("idquery/path2");
    await expectEvents(reader, ...THREE.map((id) => ({ type: EventType.destroyed, id })), {
      type: EventType.created,
      resource: last,
    });
  }),
  {
    name: "labels and id pattern must both hold",
    run: async (world) => {
      await createThree(world);
      assert.deepEqual(idsOf(await world.state.list(world.kind, { labels: [exists("frozen")], ids: "[BC]" })), ["B"]);
    },
  },
  {
    name: "[state 185] a list is sorted by the bytes of the ids",
    run: async (world) => {
      // UTF-16 order would put the emoji before U+FF5E.
      const ids = ["", "A", "B/", "B/c", "a", "é", "ｚ", "～", "😀"];
      for (const id of ids.toReversed()) await world.create(id === "" ? "-" : id);
      const expected = ["-", ...ids.slice(1)];
      assert.deepEqual(idsOf(await world.state.list(world.kind)), expected);
      const reader = await world.watchKind("plain", { bootstrap: true });
      await expectEvents(reader, ...expected.map((id) => ({ type: EventType.created, id })), {
        type: EventType.bootstrapped,
      });
    },
  },
];
