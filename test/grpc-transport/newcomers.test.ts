import { connect } from "node:net";
import { expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { GrpcChannel, GrpcError, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, echo, failureOf, openHttp2, startServer } from "./fixture.ts";

test("a connection on which no call is accepted is cut after 30 s, whatever it asks; one with a call stays", async () => {
  const clock = new ManualClock();
  const authorize = ({ metadata }: { metadata: { get(name: string): string | undefined } }): void => {
    if (metadata.get("key") !== "x") throw new GrpcError(Status.unauthenticated, "no");
  };
  await using server = await startServer({ Echo: echo }, { clock, authorize, keepaliveMs: Infinity });
  await using accepted = new GrpcChannel(server.address, { metadata: { key: "x" } });
  await using refused = new GrpcChannel(server.address);
  await using _silent = await openHttp2(server.path);
  await accepted.unary("/t.T/Echo", bytes(""));
  expect(await failureOf(refused.unary("/t.T/Echo", bytes("")))).toMatchObject({ code: Status.unauthenticated });
  await eventually(() => expect(server.server.connectionCount).toBe(3));
  await clock.advance(29_999);
  expect(server.server.connectionCount).toBe(3);
  await clock.advance(1);
  await eventually(() => expect(server.server.connectionCount).toBe(1));
  await accepted.unary("/t.T/Echo", bytes(""));
});

test("a host can have only a share of connections without an accepted call; those that call do not count", async () => {
  await using server = await startServer({ Echo: echo }, { maxConnections: 64 });
  const channels = Array.from({ length: 20 }, () => new GrpcChannel(server.address));
  for (const channel of channels) await channel.unary("/t.T/Echo", bytes(""));
  const sockets = Array.from({ length: 30 }, () => connect(server.path).on("error", () => {}));
  await eventually(() => expect(server.server.connectionCount).toBe(36));
  for (const socket of sockets) socket.resume();
  const ended = (): unknown[] => sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded);
  await eventually(() => expect(ended()).toHaveLength(14));
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(server.server.connectionCount).toBe(20));
  for (const channel of channels) await channel.close();
});
