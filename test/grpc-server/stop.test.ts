import { describe, expect, test } from "vitest";
import { EventType } from "../gen/cosi/resource/state_pb.ts";
import { GrpcError, Status } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { createResource } from "../../src/resource/index.ts";
import type { CoreState } from "../../src/state/index.ts";
import { eventsOf, failureOf, Served } from "./fixture.ts";

const kind = { namespace: "default", type: "os/path" };

describe("a server that stops", () => {
  test("ends watches with UNAVAILABLE, whatever they wait for, and what waits for finalizers too", async () => {
    const state = new MemoryState();
    await state.create(createResource({ ...kind, id: "a", finalizers: ["held"] }, {}));
    await using peer = await Served.start(state);
    const watches = [
      peer.watch({ ...kind, options: { bootstrapContents: true, aggregated: true }, apiVersion: 1 }),
      peer.watch({ ...kind, id: "a", apiVersion: 1 }),
      peer.watch({ ...kind, id: "b" }),
    ];
    for (const watch of watches) await watch.next();
    const [aggregated] = watches;
    const started = aggregated && (await eventsOf(aggregated, 2));
    expect(started?.at(-1)?.eventType).toBe(EventType.BOOTSTRAPPED);
    const waiting = failureOf(peer.teardownAndDestroy({ ...kind, id: "a" }));
    while ((await state.get({ ...kind, id: "a" })).metadata.phase === "running") await turn();

    // It does not wait out the grace time, which is for calls that finish by themselves.
    await peer.server.close({ graceMs: 600_000 });
    for (const watch of watches) {
      const end = (async () => {
        for await (const message of watch) expect(message).toBeDefined();
      })();
      expect((await failureOf(end)).code).toBe(Status.unavailable);
    }
    expect((await waiting).code).toBe(Status.unavailable);
    expect([peer.server.callCount, peer.server.watchCount]).toEqual([0, 0]);
    expect((await failureOf(peer.list(kind))).code).toBe(Status.unavailable);
  });

  test("lets a call that runs finish within the grace time, and ends it after", async () => {
    const slow = Promise.withResolvers<void>();
    const reached: (() => void)[] = [];
    const state = new MemoryState();
    const core: CoreState = Object.assign(Object.create(state) as MemoryState, {
      create: async (...args: Parameters<CoreState["create"]>) => {
        const isStuck = args[0].metadata.id === "stuck";
        reached.shift()?.();
        await (isStuck ? new Promise<never>(() => {}) : slow.promise);
        return (state as CoreState).create(...args);
      },
    });
    await using peer = await Served.start(core);
    const create = (id: string) =>
      peer.create({ resource: { metadata: { ...kind, id, version: "undefined", phase: "running" }, spec: {} } });
    const both = Promise.all(Array.from({ length: 2 }, () => new Promise<void>((resolve) => reached.push(resolve))));
    const finishing = create("slow");
    const stuck = failureOf(create("stuck"));
    await both;
    const closing = peer.server.close({ graceMs: 300 });
    slow.resolve();
    expect((await finishing).resource?.metadata?.version).toBe("1");
    expect(await stuck).toBeInstanceOf(GrpcError);
    expect((await stuck).code).toBe(Status.unavailable);
    await closing;
  });

  test("does not listen again", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.server.close();
    await expect(peer.server.listen(peer.address)).rejects.toThrow("closed");
    await peer.server.close();
  });
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
