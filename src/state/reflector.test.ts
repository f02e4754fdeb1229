import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { createTombstone, defineResource, shape, StateError, type Resource } from "../resource/index.ts";
import { EventType, type Event } from "./event.ts";
import { Reflector, type ReflectedChange } from "./reflector.ts";

const Int = defineResource({ type: "Ints.reflector.example.dev", spec: shape({ value: "integer" }) });
const MARKER = createTombstone({ ...Int.ref(""), id: "" });

const stored = (id: string, version: number): Resource<{ value: number }> => {
  const made = Int.create(id, { value: version });
  return { metadata: { ...made.metadata, version: String(version) }, spec: made.spec };
};
const created = (resource: Resource<{ value: number }>): Event<{ value: number }> => ({
  type: EventType.created,
  resource,
});
const marker = (type: "Bootstrapped" | "Resynced" | "Noop"): Event<{ value: number }> => ({ type, resource: MARKER });
const told = (changes: readonly ReflectedChange[]): string[] =>
  changes.map(({ type, resource }) => `${type} ${resource.metadata.id}@${resource.metadata.version}`);

describe("a reflector", () => {
  test("gives the first contents when they are complete, then each change", () => {
    const reflector = new Reflector<{ value: number }>();
    expect(reflector.take(created(stored("a", 1)))).toEqual([]);
    expect(reflector.complete).toBe(false);
    expect(told(reflector.take(marker("Bootstrapped")))).toEqual(["created a@1"]);
    expect(reflector.complete).toBe(true);
    const update = { type: EventType.updated, resource: stored("a", 2), old: stored("a", 1) };
    expect(told(reflector.take(update))).toEqual(["updated a@2"]);
    expect(told(reflector.take({ type: EventType.destroyed, resource: stored("a", 2) }))).toEqual(["destroyed a@2"]);
    expect(reflector.contents.size).toBe(0);
  });

  test("keeps the contents through a resync, and tells what differs once the new ones are complete", () => {
    const reflector = new Reflector<{ value: number }>();
    for (const id of ["kept", "changed", "gone"]) reflector.take(created(stored(id, 1)));
    reflector.take(marker("Bootstrapped"));
    reflector.take(marker("Resynced"));
    reflector.take(created(stored("kept", 1)));
    reflector.take(created(stored("changed", 3)));
    reflector.take(created(stored("new", 1)));
    expect([...reflector.contents.keys()]).toEqual(["kept", "changed", "gone"]);
    expect(told(reflector.take(marker("Bootstrapped")))).toEqual([
      "destroyed gone@1",
      "updated changed@3",
      "created new@1",
    ]);
  });

  test("a resync within a resync repeats nothing and loses nothing", () => {
    const reflector = new Reflector<{ value: number }>();
    reflector.take(created(stored("a", 1)));
    reflector.take(marker("Bootstrapped"));
    reflector.take(marker("Resynced"));
    reflector.take(created(stored("half", 1)));
    reflector.take(marker("Resynced"));
    reflector.take(created(stored("a", 1)));
    expect(reflector.take(marker("Bootstrapped"))).toEqual([]);
    expect([...reflector.contents.keys()]).toEqual(["a"]);
  });

  test("of one resource is complete with the first event, also when that says that it does not exist", () => {
    const reflector = new Reflector<{ value: number }>({ single: true });
    expect(reflector.take({ type: EventType.destroyed, resource: createTombstone(Int.ref("a")) })).toEqual([]);
    expect(reflector.complete).toBe(true);
    expect(told(reflector.take(created(stored("a", 1))))).toEqual(["created a@1"]);
    reflector.take(marker("Resynced"));
    const gone = reflector.take({ type: EventType.destroyed, resource: createTombstone(Int.ref("a")) });
    expect(told(gone)).toEqual(["destroyed a@1"]);
  });

  test("throws the error that ended the watch", () => {
    const error = new StateError("watch_overrun", "too slow");
    expect(() => new Reflector().take({ type: EventType.errored, error })).toThrow(error);
  });

  const step = fc.record({ do: fc.constantFrom("put", "destroy", "resync"), id: fc.constantFrom("a", "b", "c") });
  test.prop([fc.array(step)])("changes that are applied one by one make the contents of the State", async (steps) => {
    await using state = new MemoryState({ types: [Int], history: { maxCapacity: 2 } });
    await using watch = await state.watchKindBatches(Int, { bootstrap: true });
    const reflector = new Reflector<{ value: number }>();
    const model = new Map<string, number>();
    const apply = async (): Promise<void> => {
      for (let batch = watch.takePending?.(); batch !== undefined; batch = watch.takePending?.()) {
        for (const { type, resource } of batch.flatMap((event) => reflector.take(event))) {
          if (type === "destroyed") expect(model.delete(resource.metadata.id)).toBe(true);
          else model.set(resource.metadata.id, resource.spec.value);
        }
      }
    };
    let value = 0;
    for (const { do: verb, id } of steps) {
      if (verb === "put") await state.modify(Int, id, () => ({ value: value++ }));
      else if (verb === "destroy") await state.destroy(Int.ref(id)).catch(() => {});
      // Whatever is not taken often enough is resynchronised: the history is that short.
      else await apply();
    }
    await apply();
    const contents = (await state.list(Int)).map(({ metadata, spec }) => [metadata.id, spec.value] as const);
    expect(new Map([...reflector.contents].map(([id, { spec }]) => [id, spec.value]))).toEqual(new Map(contents));
    expect(model).toEqual(new Map(contents));
  });
});
