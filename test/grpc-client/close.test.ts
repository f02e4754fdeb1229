import { createServer, type Server, type Socket, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../src/clock/index.ts";
import { connect } from "../../src/grpc/index.ts";
import { eventually, Int } from "../../src/testing/index.ts";

/** An empty SETTINGS frame: all that a peer must send for a connection to be ready. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** A peer that accepts connections, says what it is told to, and never anything more: no goodbye either. */
async function silentPeer(
  greeting: Buffer | undefined,
): Promise<{ server: Server; sockets: Set<Socket>; port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", () => undefined);
    if (greeting !== undefined) socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

describe("closing the State of a peer that never says goodbye", () => {
  test.each([
    { peer: "is silent from the start", greeting: undefined },
    { peer: "answers nothing", greeting: SETTINGS },
  ])("ends its calls at once, and cuts the connection: $peer", async ({ greeting }) => {
    const { server, sockets, port } = await silentPeer(greeting);
    const clock = new ManualClock();
    const states: string[] = [];
    const onConnectionChange = (state: string) => void states.push(state);
    const state = connect(`127.0.0.1:${port}`, { clock, onConnectionChange });
    const calls = [state.get(Int, "a"), state.list(Int), state.create(Int.create("a", { value: 1 }))];
    const watches = [state.watch(Int, "a"), state.watchKind(Int), state.watchFor(Int, "a")];
    const settled = Promise.allSettled([...calls, ...watches]);
    await eventually(() =>
      expect(greeting === undefined ? sockets.size : states.at(-1)).toBe(greeting === undefined ? 1 : "ready"),
    );

    const closed = Promise.resolve(state[Symbol.asyncDispose]());
    for (const result of await settled) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    }
    await clock.advance(500);
    await closed;
    expect(clock.pending).toBe(0);
    await expect(state.get(Int, "a")).rejects.toMatchObject({
      code: "unavailable",
      message: "the connection of this State is closed",
    });
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
});
