import { describe, expect, test } from "vitest";
import { SystemClock } from "../../src/clock/index.ts";
// Below the channel, as no channel lives long enough in a test.
import { parseAddress } from "../../src/rpc/address.ts";
import { ChannelCalls } from "../../src/rpc/client/channel-calls.ts";
import { resolveChannelOptions } from "../../src/rpc/client/channel-options.ts";
import { nodeHttp2 } from "../../src/rpc/http2/node-http2-client.ts";
import { RequestHeaders } from "../../src/rpc/client/request-headers.ts";
import { UnaryClientCall } from "../../src/rpc/client/unary-client-call.ts";
import { eventually } from "../../src/testing/index.ts";
import { bytes, startServer, text, unary } from "./fixture.ts";

describe("a connection that has used up its stream ids", () => {
  test("finishes the calls it has; the next go out on another", async () => {
    const held: (() => void)[] = [];
    await using server = await startServer({
      Hold: unary(async (call) => {
        await new Promise<void>((resolve) => held.push(resolve));
        return call.message;
      }),
    });
    const address = parseAddress(server.address);
    const options = resolveChannelOptions({ clock: new SystemClock() });
    const headers = new RequestHeaders(address, false, undefined, undefined);
    // Ids of a client are odd: the fourth request reaches the last one.
    const calls = new ChannelCalls(address, options, headers, nodeHttp2(undefined, 65_536, 7));
    const call = (message: string): Promise<Uint8Array> =>
      new Promise((resolve, reject) => {
        const bounds = { signal: undefined, deadlineMs: undefined };
        calls.start(new UnaryClientCall("/t.T/Hold", bytes(message), bounds, calls, resolve, reject), undefined, false);
      });
    const answers = Array.from({ length: 10 }, (_, index) => call(`m${index}`));
    await eventually(() => expect(held).toHaveLength(10));
    expect(server.server.connectionCount).toBe(3);
    for (const finish of held) finish();
    expect((await Promise.all(answers)).map(text)).toEqual(Array.from({ length: 10 }, (_, index) => `m${index}`));
    // Those that are used up are closed.
    await eventually(() => expect(server.server.connectionCount).toBe(1));
    await calls.close();
  });
});
