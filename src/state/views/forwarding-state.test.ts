import { expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState } from "../core-state.ts";
import type { CallOptions } from "../options.ts";
import { AccessFilter } from "./access-filter.ts";
import { NamespaceRouter } from "./namespace-router.ts";
import { ForwardingState, type Address, type ForwardedOperation, type Shortcuts } from "./forwarding-state.ts";

const ref = Int.in("default").ref("one");

/** Passes everything on, and notes it. */
class Noting extends ForwardingState {
  readonly noted: string[] = [];
  readonly #core: CoreState;

  constructor(core: CoreState, shortcuts?: Shortcuts) {
    super(shortcuts);
    this.#core = core;
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    { id = "*" }: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    this.noted.push(`${operation.name} ${id}`);
    return operation.run(this.#core, target, options);
  }
}

test("every operation of a store goes through the one method of a view", async () => {
  await using state = new MemoryState({ types: [Int] });
  const view = new Noting(state, state);
  const created = await view.create(Int.in("default").create("one", { value: 1 }));
  expect(await view.get(ref)).toBe(await view.getOrNull(ref));
  expect([...(await view.list(Int.in("default")))]).toEqual([created]);
  await view.update(created);
  for (const open of [() => view.watch(ref), () => view.watchKind(Int), () => view.watchKindBatches(Int)]) {
    await (await open())[Symbol.asyncDispose]();
  }
  expect(await view.teardown?.(ref)).toBe(true);
  await view.destroy(ref);
  await expect(view.teardownAndDestroy?.(ref)).rejects.toMatchObject({ code: "not_found" });
  expect(view.noted).toEqual([
    "create one",
    "get one",
    "getOrNull one",
    "list *",
    "update one",
    "watch one",
    "watchKind *",
    "watchKindBatches *",
    "teardown one",
    "destroy one",
    "teardownAndDestroy one",
  ]);
});

test("a view has the optional operations that it offers, and no others", () => {
  const core = new MemoryState();
  const names = ["teardown", "teardownAndDestroy", "usage"] as const;
  expect(names.filter((name) => name in new Noting(core))).toEqual([]);
  const some = new Noting(core, { teardown: () => Promise.resolve(true), usage: () => "watched" });
  expect(names.filter((name) => name in some)).toEqual(["teardown", "usage"]);
  expect(some.usage?.()).toBe("watched");
});

test("an access filter says what the store behind it holds, and hides its shortcuts from no rule", () => {
  const core: CoreState = new MemoryState();
  const store: CoreState = Object.assign(Object.create(core) as CoreState, { usage: () => "unused" as const });
  const filter = new AccessFilter(store, () => undefined);
  expect(filter.usage?.()).toBe("unused");
  expect("teardown" in filter).toBe(false);
});

test("a shortcut that a store does not have is refused by name", async () => {
  const view = new Noting(new NamespaceRouter(() => new MemoryState()), { teardown: () => Promise.resolve(true) });
  await expect(view.teardown?.(ref)).rejects.toMatchObject({ code: "unsupported", pointer: ref });
});
