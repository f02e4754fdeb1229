import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Controller, QueueController } from "../../src/controller/index.ts";
import { connect, server } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { defineResource, shape } from "../../src/resource/index.ts";
import type { State } from "../../src/state/index.ts";
import { startEngine, type Engine } from "../engine-fixture.ts";

/** What is transformed, what comes of it, and what else plays a part. */
export const A = defineResource({
  type: "As.ready.example.dev",
  namespace: "ns-a",
  spec: shape({ text: "string", int: "integer" }),
});
export const B = defineResource({
  type: "Bs.ready.example.dev",
  namespace: "ns-b",
  spec: shape({ out: "string", count: "integer" }),
});
export const C = defineResource({ type: "Cs.ready.example.dev", namespace: "ns-c", spec: shape({ aux: "integer" }) });
const types = [A, B, C];

/** On what the ready-made controllers have to work. */
export const STORES = ["in memory", "read through a cache", "over the wire"] as const;
export type Store = (typeof STORES)[number];

/** A State, and engines on it, which end with it. */
export class World implements AsyncDisposable {
  readonly state: State;
  readonly #store: Store;
  readonly #stack: AsyncDisposableStack;

  private constructor(state: State, store: Store, stack: AsyncDisposableStack) {
    this.state = state;
    this.#store = store;
    this.#stack = stack;
  }

  static async open(store: Store): Promise<World> {
    const stack = new AsyncDisposableStack();
    const local = stack.use(new MemoryState({ types }));
    if (store !== "over the wire") return new World(local, store, stack);
    const folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const serving = server(local, { types });
    stack.defer(() => serving.close({ graceMs: 0 }));
    const { address } = await serving.listen(`unix:${join(folder, "state")}`);
    return new World(stack.use(connect(address, { types })), store, stack);
  }

  async start(...controllers: readonly (Controller | QueueController)[]): Promise<Engine> {
    const cache = this.#store === "read through a cache" ? types : [];
    return this.#stack.use(await startEngine(this.state, controllers, { cache }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Lets what waits for a permission of this name go on, once for each that was given. */
export class Permits {
  readonly #given = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  give(name = ""): void {
    const next = this.#waiting.get(name)?.shift();
    if (next === undefined) this.#given.set(name, (this.#given.get(name) ?? 0) + 1);
    else next();
  }

  async take(signal: AbortSignal, name = ""): Promise<void> {
    const given = this.#given.get(name) ?? 0;
    if (given > 0) {
      this.#given.set(name, given - 1);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    await promise;
  }
}
