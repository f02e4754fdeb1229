import { connect as connectTls } from "node:tls";
import { connect as connectTcp } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type ClientTls, GrpcChannel, GrpcServer, type ServerTls, Status } from "../../src/rpc/index.ts";
import { eventually } from "../../src/testing/index.ts";
import {
  authority,
  clientCertificate,
  clientKey,
  expiredClientCertificate,
  expiredClientKey,
  expiredServerCertificate,
  expiredServerKey,
  serverCertificate,
  serverKey,
  strangerCertificate,
  strangerKey,
} from "./certificates.ts";
import { bytes, byPath, failureOf, text, unary } from "./fixture.ts";

const plain: ServerTls = { cert: serverCertificate, key: serverKey };
const mutual: ServerTls = { ...plain, ca: authority };
const trusting: ClientTls = { ca: authority };
const alice: ClientTls = { ...trusting, cert: clientCertificate, key: clientKey };

const servers: GrpcServer[] = [];
const channels: GrpcChannel[] = [];

/** Starts a server whose one method tells who called. */
async function start(tls: ServerTls, host = "127.0.0.1"): Promise<string> {
  const who = unary(({ peer }) => bytes(`${peer.kind} ${peer.encrypted} ${String(peer.certificate?.subject.CN)}`));
  const server = new GrpcServer({ methods: byPath({ Who: who }) });
  servers.push(server);
  return server.listen(`${host}:0`, { tls });
}

function call(address: string, tls: ClientTls | undefined): Promise<string> {
  const channel = new GrpcChannel(address, { tls });
  channels.push(channel);
  return channel.unary("/t.T/Who", bytes("")).then(text);
}

afterEach(async () => {
  for (const channel of channels.splice(0)) await channel.close();
  for (const server of servers.splice(0)) await server.close();
});

describe("TLS", () => {
  test("with a server that the client's authority vouches for", async () => {
    expect(await call(await start(plain), trusting)).toBe("tcp true undefined");
  });

  test("allows to listen where others can connect", async () => {
    const address = await start(plain, "0.0.0.0");
    const port = address.slice(address.lastIndexOf(":") + 1);
    expect(await call(`localhost:${port}`, trusting)).toBe("tcp true undefined");
  });

  test.each<[string, ServerTls, ClientTls | undefined, RegExp]>([
    [
      "the client does not know the authority",
      plain,
      {},
      /^no connection: the server's certificate "localhost" was issued by "Test authority", which is not among the trusted/,
    ],
    [
      "the server is a stranger",
      { cert: strangerCertificate, key: strangerKey },
      trusting,
      /certificate "other" was issued by itself, which is not among the trusted/,
    ],
    [
      "the server's certificate expired",
      { cert: expiredServerCertificate, key: expiredServerKey },
      trusting,
      /certificate "localhost" expired on 2020-01-02T00:00:00Z/,
    ],
    [
      "the server is called otherwise",
      plain,
      { ...trusting, servername: "example.com" },
      /certificate "localhost" is for localhost, 127\.0\.0\.1, not for example\.com/,
    ],
    ["the client speaks no TLS", plain, undefined, /./],
  ])("is refused when %s", async (_, serverTls, clientTls, reason) => {
    expect(await failureOf(call(await start(serverTls), clientTls))).toMatchObject({
      code: Status.unavailable,
      message: expect.stringMatching(reason),
    });
  });

  test("is refused when the server speaks none", async () => {
    const server = new GrpcServer({ methods: byPath({}) });
    servers.push(server);
    const address = await server.listen("127.0.0.1:0");
    expect(await failureOf(call(address, trusting))).toMatchObject({ code: Status.unavailable });
  });

  test("without HTTP/2 is refused by both sides", async () => {
    const address = await start(plain);
    const port = Number(address.slice(address.lastIndexOf(":") + 1));
    const socket = connectTls({ host: "127.0.0.1", port, ca: authority, ALPNProtocols: ["http/1.1"] });
    expect(await new Promise((resolve) => socket.once("error", resolve).once("close", resolve))).toBeDefined();
    const silent = connectTls({ host: "127.0.0.1", port, ca: authority });
    silent.resume();
    await new Promise<void>((resolve) => silent.once("close", () => resolve()));
  });

  test("that fails is forgotten", async () => {
    const address = await start(plain);
    const port = Number(address.slice(address.lastIndexOf(":") + 1));
    for (let round = 0; round < 20; round++) {
      const socket = connectTcp(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.resume();
      socket.write("this is no TLS".repeat(10));
      await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    }
    expect(await call(address, trusting)).toBe("tcp true undefined");
    await eventually(() => expect(servers[0]?.connectionCount).toBe(1));
  });
});

describe("TLS with certificates of clients", () => {
  test("tells the handler who calls", async () => {
    expect(await call(await start(mutual), alice)).toBe("tcp true alice");
  });

  test.each<[string, ClientTls, RegExp]>([
    ["none", trusting, /the server asks for a client certificate, and none was given/],
    [
      "none, with TLS 1.2",
      { ...trusting, maxVersion: "TLSv1.2" },
      /may ask for a client certificate, and none was given/,
    ],
    [
      "a stranger's",
      { ...trusting, cert: strangerCertificate, key: strangerKey },
      /may not accept the client certificate "other", valid until 2126-11-05T20:49:28Z/,
    ],
    [
      "an expired one",
      { ...trusting, cert: expiredClientCertificate, key: expiredClientKey },
      /may not accept the client certificate "alice", expired on 2020-01-02T00:00:00Z/,
    ],
  ])("refuses a client that shows %s, which learns why", async (_, tls, reason) => {
    const address = await start(mutual);
    expect(await failureOf(call(address, tls))).toMatchObject({
      code: Status.unavailable,
      message: expect.stringMatching(reason),
    });
    expect(await call(address, alice)).toBe("tcp true alice");
  });

  test("that need not be shown are none when they are not good", async () => {
    const address = await start({ ...mutual, rejectUnauthorized: false });
    expect(await call(address, alice)).toBe("tcp true alice");
    expect(await call(address, trusting)).toBe("tcp true undefined");
    expect(await call(address, { ...trusting, cert: strangerCertificate, key: strangerKey })).toBe(
      "tcp true undefined",
    );
  });
});
