import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { controller, weak } from "../controller/index.ts";
import { silentLogger } from "../log/index.ts";
import { MemoryState } from "../memory/index.ts";
import { defineResource, NamespaceType, ResourceDefinitionType, shape } from "../resource/index.ts";
import type { State } from "../state/index.ts";
import type { ControlPlaneInit, RunControlPlaneOptions } from "./control-plane.ts";
import { defineControlPlane } from "./define-control-plane.ts";
import { describeTypes } from "./describe-types.ts";

const Int = defineResource({ type: "Ints.plane.example.dev", namespace: "numbers", spec: shape({ value: "number" }) });
const idle = controller({ name: "Idle", inputs: [weak(Int)], reconcile: () => Promise.resolve() });

describe("defineControlPlane", () => {
  test("fills in defaults: a State in memory that knows the resources", async () => {
    const plane = defineControlPlane({ resources: [Int] });
    expect(plane).toMatchObject({ controllers: [], listen: undefined, onStart: undefined });
    await using state = await plane.state();
    await expect(state.create({ ...Int.create("a", { value: 1 }), spec: { value: "x" } } as never)).rejects.toThrow(
      "spec.value",
    );
  });

  test("one address or several", () => {
    expect(defineControlPlane({ resources: [], listen: "unix:a" }).listen).toEqual(["unix:a"]);
    expect(defineControlPlane({ resources: [], listen: ["unix:a", "tcp:b:1"] }).listen).toEqual(["unix:a", "tcp:b:1"]);
    expect(defineControlPlane({ resources: [], listen: [] }).listen).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /needs an object/],
    [{ resources: [], controler: [] }, /controler is not a known field; known: .*controllers/],
    [{ resources: Int }, /resources must be a list/],
    [{ resources: [Int, {}] }, /resources\[1\] must be made by defineResource/],
    [{ resources: [Int, Int] }, /"Ints.plane.example.dev" is there twice/],
    [{ resources: [], controllers: [idle, idle] }, /"Idle" is there twice/],
    [{ resources: [], controllers: [() => {}] }, /controllers\[0\] must be a controller/],
    [{ resources: [], state: new MemoryState() }, /state must be a function/],
    [{ resources: [], listen: "9000" }, /listen must be unix:PATH or tcp:HOST:PORT, got "9000"/],
    [{ resources: [], onStart: 1 }, /onStart must be a function/],
    [{ resources: [], onStop: 1 }, /onStop must be a function/],
    [{ resources: [], tasks: [{ name: "a" }] }, /tasks\[0\] must be a task with a name and a run method/],
    [{ resources: [], runtime: 1 }, /runtime must be an object/],
    [{ resources: [], namespaces: { a: 1 } }, /namespaces.a must be a description/],
  ])("refuses %#", (init, reason) => {
    expect(() => defineControlPlane(init as ControlPlaneInit)).toThrow(reason);
  });
});

describe("describeTypes", () => {
  test("writes definitions and namespaces, and brings those of an earlier run up to date", async () => {
    await using state = new MemoryState();
    const before = defineResource({ type: Int.type, namespace: "numbers", spec: shape({}), aliases: ["old"] });
    const unruly = defineResource({ type: "test/unruly", spec: shape({}) });
    await describeTypes(state, [before, unruly], new Map([["numbers", "All of them."]]));
    await describeTypes(state, [Int], new Map([["numbers", "The integers."]]));
    const definitions = await state.list(ResourceDefinitionType);
    expect(definitions.map(({ metadata }) => [metadata.id, metadata.owner, metadata.version])).toEqual([
      ["ints.plane.example.dev", "meta", "2"],
      ["namespaces.meta.cosi.dev", "meta", "1"],
      ["resourcedefinitions.meta.cosi.dev", "meta", "1"],
    ]);
    expect(definitions[0]?.spec.aliases).toEqual(["int"]);
    const namespaces = await state.list(NamespaceType);
    expect(namespaces.map(({ metadata, spec }) => [metadata.id, spec.description])).toEqual([
      ["default", ""],
      ["meta", expect.stringContaining("types")],
      ["numbers", "The integers."],
    ]);
  });
});

/** A State that tells when it was disposed, and whose watches end when told to. */
class ObservedState extends MemoryState {
  disposed = 0;

  override async [Symbol.asyncDispose](): Promise<void> {
    this.disposed++;
    await super[Symbol.asyncDispose]();
  }
}

describe("running a control plane", () => {
  const run = (init: Partial<ControlPlaneInit>, options: RunControlPlaneOptions = {}) => {
    const state = new ObservedState();
    const plane = defineControlPlane({ state: () => state, resources: [Int], ...init });
    return { state, ended: plane.run({ logger: silentLogger, ...options }) };
  };

  test("starts the controllers after onStart, and stops everything when told to", async () => {
    const seen: string[] = [];
    const stop = new AbortController();
    const reader = controller({
      name: "Reader",
      inputs: [weak(Int)],
      async reconcile({ state }) {
        seen.push(...(await state.list(Int)).map(({ metadata }) => metadata.id));
        stop.abort();
      },
    });
    const { state, ended } = run(
      {
        controllers: [reader],
        onStart: async ({ state: given }: { readonly state: State }) => {
          await given.create(Int.create("first", { value: 1 }));
        },
      },
      { signal: stop.signal },
    );
    await ended;
    expect(seen).toEqual(["first"]);
    expect(state.disposed).toBe(1);
  });

  test("an error of onStart is the answer, and the State is disposed", async () => {
    const { state, ended } = run({ onStart: () => Promise.reject(new Error("not today")) });
    await expect(ended).rejects.toThrow("not today");
    expect(state.disposed).toBe(1);
  });

  test("a stop during onStart is no failure", async () => {
    const stop = new AbortController();
    const { state, ended } = run(
      {
        onStart: ({ signal }) => {
          stop.abort();
          signal.throwIfAborted();
        },
      },
      { signal: stop.signal },
    );
    await ended;
    expect(state.disposed).toBe(1);
  });

  test("a controller that does not stop costs the time that it may take, and is an error", async () => {
    const stop = new AbortController();
    const patience = Promise.withResolvers<void>();
    const stubborn = controller({
      name: "Stubborn",
      inputs: [weak(Int)],
      reconcile: () => {
        stop.abort();
        return patience.promise;
      },
    });
    const { ended } = run({ controllers: [stubborn] }, { signal: stop.signal, stopTimeoutMs: 20 });
    // The runtime has two thirds of the time.
    await expect(ended).rejects.toThrow(/did not stop within 14 ms: controller "Stubborn" \(its reconcile\)/);
    patience.resolve();
  });

  test("why it failed is told, not that it did not stop after it", async () => {
    const patience = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const stubborn = controller({
      name: "Stubborn",
      inputs: [weak(Int)],
      reconcile: () => {
        started.resolve();
        return patience.promise;
      },
    });
    const onReady = () => started.promise.then(() => Promise.reject(new Error("not ready at all")));
    const { ended } = run({ controllers: [stubborn] }, { onReady, stopTimeoutMs: 20 });
    await expect(ended).rejects.toThrow("not ready at all");
    patience.resolve();
  });

  test("leaves nothing on its signal when the State cannot be opened, and ends when stopped meanwhile", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const failing = defineControlPlane({ state: () => Promise.reject(new Error("no disk")), resources: [] });
    await expect(failing.run({ signal })).rejects.toThrow("no disk");
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const state = new MemoryState();
    const slow = defineControlPlane({ state: () => (stop.abort(), Promise.resolve(state)), resources: [] });
    await slow.run({ signal });
    await expect(state.list(Int)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("a stop drains first, while controllers and tasks still run, and cleans up last", async () => {
    const stop = new AbortController();
    const story: string[] = [];
    const seen = Promise.withResolvers<void>();
    const reader = controller({
      name: "Reader",
      inputs: [weak(Int)],
      async reconcile({ state }) {
        const ids = (await state.list(Int)).map(({ metadata }) => metadata.id);
        story.push(`reconciled ${ids.join()}`);
        if (ids.includes("last")) seen.resolve();
      },
    });
    const { state, ended } = run(
      {
        controllers: [reader],
        tasks: [
          {
            name: "idle",
            run: ({ signal }) =>
              new Promise((resolve) =>
                signal.addEventListener("abort", () => {
                  story.push("task ended");
                  resolve();
                }),
              ),
          },
          { name: "done at once", run: () => Promise.resolve() },
        ],
        onStart: ({ defer }) => {
          defer(() => void story.push("first given, last run"));
          defer(() => void story.push("last given, first run"));
        },
        onStop: async ({ state: given }) => {
          await given.create(Int.create("last", { value: 1 }));
          await seen.promise;
          story.push("drained");
        },
      },
      { signal: stop.signal, onReady: () => stop.abort() },
    );
    await ended;
    expect(story.slice(-5)).toEqual([
      "reconciled last",
      "drained",
      "task ended",
      "last given, first run",
      "first given, last run",
    ]);
    expect(state.disposed).toBe(1);
  });

  test("cleanups run when the start fails, and one that throws does not stop the others", async () => {
    const story: string[] = [];
    const { state, ended } = run({
      onStart: ({ defer }) => {
        defer(() => void story.push("cleaned"));
        defer(() => Promise.reject(new Error("dirt")));
        throw new Error("no start");
      },
    });
    await expect(ended).rejects.toThrow("no start");
    expect(story).toEqual(["cleaned"]);
    expect(state.disposed).toBe(1);
  });

  test("a task that fails ends the control plane, also while it drains", async () => {
    const task = { name: "broken", run: () => Promise.reject(new Error("task broken")) };
    await expect(run({ tasks: [task] }).ended).rejects.toThrow("task broken");
    const stop = new AbortController();
    const draining = Promise.withResolvers<void>();
    const late = { name: "late", run: () => draining.promise.then(() => Promise.reject(new Error("broke late"))) };
    const { ended } = run(
      {
        tasks: [late],
        onStop: ({ signal }) => {
          draining.resolve();
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      },
      { signal: stop.signal, onReady: () => stop.abort() },
    );
    await expect(ended).rejects.toThrow("broke late");
  });

  test("a drain has the time that the stop has, or all the time there is", async () => {
    const stop = new AbortController();
    const forever = () => new Promise<void>(() => {});
    const onReady = () => stop.abort();
    const { state, ended } = run({ onStop: forever }, { signal: stop.signal, stopTimeoutMs: 20, onReady });
    await expect(ended).rejects.toThrow("did not stop within 20 ms");
    await expect.poll(() => state.disposed).toBe(1);
    const again = new AbortController();
    await run({}, { signal: again.signal, stopTimeoutMs: Infinity, onReady: () => again.abort() }).ended;
  });

  test("nothing is opened for a signal that has aborted already", async () => {
    let opened = 0;
    const state = (): State => {
      opened++;
      return new MemoryState();
    };
    await defineControlPlane({ state, resources: [] }).run({ signal: AbortSignal.abort() });
    expect(opened).toBe(0);
    await expect(defineControlPlane({ resources: [] }).run({ stopTimeoutMs: -1 })).rejects.toThrow("stopTimeoutMs");
  });
});
