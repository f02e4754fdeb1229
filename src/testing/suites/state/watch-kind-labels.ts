import assert from "node:assert/strict";
import { equal, exists, patchMetadata, type Resource } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import { inBothForms } from "./watch-kind.ts";
import { rejectsWith, type Scenario } from "./world.ts";

const { created, updated, destroyed, bootstrapped } = EventType;

const withLabel = (resource: Resource, key: string, value: string): Resource =>
  patchMetadata(resource, { labels: { ...resource.metadata.labels, [key]: value } });

function withoutLabel(resource: Resource, key: string): Resource {
  const { [key]: _, ...labels } = resource.metadata.labels;
  return patchMetadata(resource, { labels });
}

/** Watches of a part of a kind: the filtered part of section 26.3 of the specification. */
export const watchKindLabels: readonly Scenario[] = [
  ...inBothForms(
    "[state 19-23] [transport S6] a watch with label queries tells what enters, stays in and leaves them",
    async (world, form) => {
      const { state } = world;
      const r1 = await world.create("r1", { labels: { label: "1", common: "app" } });
      const w1 = await world.watchKind(form, { bootstrap: true, labels: [equal("label", "1")] });
      const w2 = await world.watchKind(form, { bootstrap: true, labels: [exists("common")] });
      const w3 = await world.watchKind(form, {
        bootstrap: true,
        labels: [[equal("label", "2")], [equal("label", "3")]],
      });
      const r2 = await world.create("r2", { labels: { label: "2", common: "app" } });
      const r3 = await world.create("r3", { labels: { label: "3" } });
      await expectEvents(w1, { type: created, resource: r1 }, { type: bootstrapped });
      await expectEvents(w2, { type: created, resource: r1 }, { type: bootstrapped }, { type: created, resource: r2 });
      await expectEvents(w3, { type: bootstrapped }, { type: created, resource: r2 }, { type: created, resource: r3 });

      const r3Common = await state.update(withLabel(r3, "common", "app"));
      await expectEvents(w2, { type: created, resource: r3Common, old: null });
      await expectEvents(w3, { type: updated, resource: r3Common, old: r3 });

      const r1More = await state.update(withLabel(r1, "unrelated", "yes"));
      for (const reader of [w1, w2]) {
        const [event] = await expectEvents(reader, { type: updated, resource: r1More, old: r1 });
        assert.equal(event?.resource?.metadata.labels["unrelated"], "yes");
        assert.equal(event?.old?.metadata.labels["unrelated"], undefined);
      }

      const r1Less = await state.update(withoutLabel(r1More, "common"));
      const [left] = await expectEvents(w2, { type: destroyed, resource: r1Less, old: null });
      assert.equal(left?.resource?.metadata.labels["common"], undefined);
      const [stays] = await expectEvents(w1, { type: updated, resource: r1Less, old: r1More });
      assert.equal(stays?.resource?.metadata.labels["common"], undefined);
      assert.equal(stays?.old?.metadata.labels["common"], "app");

      // What stays out is not told: the next that each hears of is this.
      await state.update(withLabel(r1Less, "unrelated", "no"));
      await state.destroy(r2.metadata);
      await expectEvents(w2, { type: destroyed, resource: r2, old: null });
    },
  ),

  ...inBothForms("[state 178] a bookmark taken from one query is a position for any other", async (world, form) => {
    const { state } = world;
    const all = await world.watchKind(form);
    const plain = await world.create("plain");
    const [hidden] = await expectEvents(all, { type: created, resource: plain, bookmark: true });
    const shown = await world.create("shown", { labels: { common: "app" } });
    // The query hides the event that the bookmark is of.
    const filtered = await world.watchKind(form, { startFromBookmark: hidden?.bookmark, labels: [exists("common")] });
    const [entered] = await expectEvents(filtered, { type: created, resource: shown, bookmark: true });
    const changed = await state.update(withoutLabel(shown, "common"));
    const [left] = await expectEvents(filtered, { type: destroyed, resource: changed, bookmark: true });
    const rest = await world.watchKind(form, { startFromBookmark: entered?.bookmark });
    const [raw] = await expectEvents(rest, { type: updated, resource: changed, old: shown });
    assert.deepEqual(raw?.bookmark, left?.bookmark, "a rewritten event keeps its bookmark");
  }),

  {
    name: "a list or watch with an id pattern that does not compile is refused",
    run: async ({ state, kind }) => {
      for (const ids of ["(", "a(?=b)", "(a)\\1"]) {
        await rejectsWith(state.list(kind, { ids }), "invalid");
        await rejectsWith(state.watchKind(kind, { ids }), "invalid");
      }
    },
  },
];
