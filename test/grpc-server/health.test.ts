import { describe, expect, test } from "vitest";
import { accessDenied } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { failureOf, Served } from "./fixture.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const SERVING = [0x08, 1];
const SERVICE_UNKNOWN = [0x08, 3];

const asking = (service: string): Uint8Array =>
  service === "" ? new Uint8Array() : Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)]);

describe("the health service", () => {
  test.each(["", "cosi.resource.State"])("says that %j is served", async (service) => {
    await using peer = await Served.start(new MemoryState());
    expect([...(await peer.channel.unary(CHECK, asking(service)))]).toEqual(SERVING);
    const watch = peer.channel.serverStream(WATCH, asking(service));
    expect((await watch.read())?.map((message) => [...message])).toEqual([SERVING]);
    expect(peer.server.watchCount).toBe(1);
    watch.cancel();
    await eventually(() => expect(peer.server.watchCount).toBe(0));
  });

  test("does not know another service: a check is refused, a watch told so", async () => {
    await using peer = await Served.start(new MemoryState());
    const error = await failureOf(peer.channel.unary(CHECK, asking("x.Y")));
    expect([error.code, error.message]).toEqual([
      Status.notFound,
      'there is no service "x.Y"; there is cosi.resource.State',
    ]);
    const watch = peer.channel.serverStream(WATCH, asking("x.Y"));
    expect((await watch.read())?.map((message) => [...message])).toEqual([SERVICE_UNKNOWN]);
    watch.cancel();
  });

  test("refuses what is no message", async () => {
    await using peer = await Served.start(new MemoryState());
    const error = await failureOf(peer.channel.unary(CHECK, Uint8Array.of(0x0a, 9)));
    expect(error.code).toBe(Status.internal);
  });

  test("needs no token and asks no access rule; every other call does", async () => {
    await using peer = await Served.start(new MemoryState(), {
      tokens: ["secret"],
      access: () => {
        throw accessDenied("no");
      },
    });
    expect([...(await peer.channel.unary(CHECK, asking("")))]).toEqual(SERVING);
    expect((await failureOf(peer.list({ namespace: "a", type: "b" }))).code).toBe(Status.unauthenticated);
    expect((await failureOf(peer.channel.unary("/grpc.health.v1.HealthX/Check", asking("")))).code).toBe(
      Status.unimplemented,
    );
  });

  test("is bounded like watches, and ends with UNAVAILABLE when the server stops", async () => {
    await using peer = await Served.start(new MemoryState(), { maxWatchesPerConnection: 1 });
    const watch = peer.channel.serverStream(WATCH, asking(""));
    await watch.read();
    const second = peer.channel.serverStream(WATCH, asking(""));
    expect((await failureOf(second.read())).code).toBe(Status.resourceExhausted);
    const ended = failureOf(watch.read());
    await peer.server.close({ graceMs: 1_000 });
    expect((await ended).code).toBe(Status.unavailable);
  });
});
