import { expectTypeOf } from "vitest";
import type { Pointer, Resource, Tombstone } from "../resource/index.ts";
import { Int, type IntSpec } from "../testing/index.ts";
import type { Event } from "./event.ts";
import type { OwnedState } from "./views/owned-state.ts";
import type { ResourceList, Watch } from "./core-state.ts";
import type { State } from "./state.ts";

declare const state: State;
declare const owned: OwnedState;
declare const pointer: Pointer;
const kind = { namespace: "default", type: "test/int" };

// A type or a typed reference gives typed answers; a bare address gives resources of unknown spec.
expectTypeOf(state.get(Int, "one")).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.get(Int.in("other"), "one", { atLeast: "3" })).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.get(Int.ref("one"))).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.get(pointer)).resolves.toEqualTypeOf<Resource>();
expectTypeOf(state.getOrNull(Int, "one")).resolves.toEqualTypeOf<Resource<IntSpec> | undefined>();
expectTypeOf(state.getOrNull(Int.ref("one"))).resolves.toEqualTypeOf<Resource<IntSpec> | undefined>();
expectTypeOf(state.list(Int)).resolves.toEqualTypeOf<ResourceList<IntSpec>>();
expectTypeOf(state.list(kind)).resolves.toEqualTypeOf<ResourceList>();
expectTypeOf(state.create(Int.create("one", { value: 1 }))).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.update(Int.create("one", { value: 1 }))).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.watch(Int, "one")).resolves.toEqualTypeOf<Watch<Event<IntSpec>>>();
expectTypeOf(state.watch(Int.ref("one"))).resolves.toEqualTypeOf<Watch<Event<IntSpec>>>();
expectTypeOf(state.watch(pointer)).resolves.toEqualTypeOf<Watch>();
expectTypeOf(state.watchKind(Int, { bootstrap: true })).resolves.toEqualTypeOf<Watch<Event<IntSpec>>>();
expectTypeOf(state.watchKind(kind)).resolves.toEqualTypeOf<Watch>();
expectTypeOf(state.watchKindBatches(Int)).resolves.toEqualTypeOf<Watch<readonly Event<IntSpec>[]>>();
expectTypeOf(state.watchKindBatches(kind)).resolves.toEqualTypeOf<Watch<readonly Event[]>>();
expectTypeOf(state.watchFor(Int, "one")).resolves.toEqualTypeOf<Resource<IntSpec> | Tombstone>();
expectTypeOf(state.watchFor(Int.ref("one"))).resolves.toEqualTypeOf<Resource<IntSpec> | Tombstone>();

// Changes see a draft of the right spec, and may write to it or return another.
void state.updateWithConflicts(Int.ref("one"), (spec, metadata) => {
  expectTypeOf(spec).toEqualTypeOf<{ value: number }>();
  spec.value += 1;
  metadata.labels["seen"] = "yes";
});
void state.updateWithConflicts(Int, "one", (spec) => ({ value: spec.value + 1 }));
void state.modify(Int, "one", async (spec) => {
  spec.value = await Promise.resolve(2);
});
void state.modify(Int.create("one", { value: 1 }), (spec) => void (spec.value += 1));
void owned.modify(Int, "one", (spec) => void (spec.value = 3), { noOwner: true });
expectTypeOf(owned.modify(Int, "one", () => undefined)).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.modify(Int, "one", () => undefined)).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.updateWithConflicts(Int, "one", () => undefined)).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(state.watchFor(Int, "one", { where: () => true })).resolves.toEqualTypeOf<Resource<IntSpec> | Tombstone>();
expectTypeOf(owned.get(Int, "one")).resolves.toEqualTypeOf<Resource<IntSpec>>();
expectTypeOf(owned.getOrNull(Int, "one")).resolves.toEqualTypeOf<Resource<IntSpec> | undefined>();
expectTypeOf(owned.list(Int)).resolves.toEqualTypeOf<ResourceList<IntSpec>>();

// @ts-expect-error -- a change cannot return another spec
void state.modify(Int, "one", () => ({ value: "two" }));
// @ts-expect-error -- a draft takes no other value
void state.modify(Int, "one", (spec) => void (spec.value = "two"));
// @ts-expect-error -- the version is the store's
void state.modify(Int, "one", (_spec, metadata) => void (metadata.version = "2"));
// @ts-expect-error -- a type alone is no address of a resource
void state.get(Int);
// @ts-expect-error -- a view has no watches
void owned.watch(pointer);

void state.get(Int, "one").then((one) => {
  // @ts-expect-error -- what is read is immutable
  one.spec.value = 2;
});

void state.watch(Int, "one").then(async (watch) => {
  for await (const event of watch) {
    switch (event.type) {
      case "Created":
        expectTypeOf(event.resource.spec.value).toEqualTypeOf<number>();
        // @ts-expect-error -- nothing was there before
        void event.old.metadata;
        break;
      case "Updated":
        expectTypeOf(event.old).toEqualTypeOf<Resource<IntSpec>>();
        break;
      case "Destroyed":
        expectTypeOf(event.resource).toEqualTypeOf<Resource<IntSpec> | Tombstone>();
        break;
      case "Errored":
        expectTypeOf(event.error).toEqualTypeOf<Error>();
        break;
      case "Bootstrapped":
      case "Noop":
      case "Resynced":
        expectTypeOf(event.resource).toEqualTypeOf<Tombstone>();
        break;
    }
  }
});
