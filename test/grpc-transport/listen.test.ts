import { chmod, lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { GrpcChannel, GrpcServer, Status } from "../../src/rpc/index.ts";
import { MAX_PATH_BYTES } from "../../src/rpc/address.ts";
import { bytes, byPath, echo, failureOf, openDirectory, startServer, text } from "./fixture.ts";

const servers: GrpcServer[] = [];

function newServer(): GrpcServer {
  const server = new GrpcServer({ methods: byPath({ Echo: echo }) });
  servers.push(server);
  return server;
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

describe("a unix socket", () => {
  test("is for its user alone, or for whom its mode allows, and gone when the server is closed", async () => {
    await using directory = await openDirectory();
    const server = newServer();
    expect(await server.listen(`unix:${directory.path("a")}`)).toBe(`unix:${directory.path("a")}`);
    await server.listen(`unix://${directory.path("b")}`, { socketMode: 0o660 });
    expect((await lstat(directory.path("a"))).mode & 0o777).toBe(0o600);
    expect((await lstat(directory.path("b"))).mode & 0o777).toBe(0o660);
    expect((await readdir(dirname(directory.path("a")))).toSorted()).toEqual(["a", "b"]);
    for (const name of ["a", "b"]) {
      await using channel = new GrpcChannel(`unix:${directory.path(name)}`);
      expect(text(await channel.unary("/t.T/Echo", bytes(name)))).toBe(name);
    }
    await server.close();
    expect(await readdir(dirname(directory.path("a")))).toEqual([]);
  });

  test("that a dead server left is replaced", async () => {
    await using directory = await openDirectory();
    const path = directory.path("s");
    // What a killed server leaves: bound, but nobody listens.
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(`${path}.old`, () => resolve()));
    const { rename } = await import("node:fs/promises");
    await rename(`${path}.old`, path);
    await new Promise<void>((resolve) => dead.close(() => resolve()));
    expect((await lstat(path)).isSocket()).toBe(true);
    await newServer().listen(`unix:${path}`);
    await using channel = new GrpcChannel(`unix:${path}`);
    expect(text(await channel.unary("/t.T/Echo", bytes("x")))).toBe("x");
  });

  test("of a living server is left alone", async () => {
    await using server = await startServer({ Echo: echo });
    await expect(newServer().listen(server.address)).rejects.toThrow("another server listens on it");
    await using channel = new GrpcChannel(server.address);
    expect(text(await channel.unary("/t.T/Echo", bytes("x")))).toBe("x");
  });

  test("is not put in the place of a file", async () => {
    await using directory = await openDirectory();
    await writeFile(directory.path("s"), "precious");
    await expect(newServer().listen(`unix:${directory.path("s")}`)).rejects.toThrow(
      "there is something that is no socket",
    );
    expect(await readdir(dirname(directory.path("s")))).toEqual(["s"]);
  });

  test("that a later server took is not removed by the earlier one", async () => {
    await using directory = await openDirectory();
    const path = directory.path("s");
    const first = newServer();
    await first.listen(`unix:${path}`);
    const { rm } = await import("node:fs/promises");
    await rm(path);
    await newServer().listen(`unix:${path}`);
    await first.close();
    await using channel = new GrpcChannel(`unix:${path}`);
    expect(text(await channel.unary("/t.T/Echo", bytes("x")))).toBe("x");
  });

  test("whose directory is too long to bind in is refused, with the reason", async () => {
    await using directory = await openDirectory();
    const deep = directory.path("d".repeat(MAX_PATH_BYTES - 11 - directory.path("").length));
    await mkdir(deep);
    await expect(newServer().listen(`unix:${deep}/s`)).rejects.toThrow(
      /directory of a unix socket .* at most \d+ bytes/,
    );
    const shorter = deep.slice(0, -1);
    await mkdir(shorter);
    await newServer().listen(`unix:${shorter}/s`);
    await using channel = new GrpcChannel(`unix:${shorter}/s`);
    expect(text(await channel.unary("/t.T/Echo", bytes("x")))).toBe("x");
  });

  test("in a directory that is not there is an error that leaves nothing", async () => {
    await using directory = await openDirectory();
    await expect(newServer().listen(`unix:${directory.path("no/s")}`)).rejects.toThrow("ENOENT");
    await chmod(directory.path("."), 0o700);
    expect(await readdir(directory.path("."))).toEqual([]);
  });
});

describe("TCP", () => {
  test("on this machine needs no TLS; port 0 is any that is free", async () => {
    const server = newServer();
    const address = await server.listen("tcp://127.0.0.1:0");
    expect(address).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(await server.listen("localhost:0")).toMatch(/^tcp:\/\/(127\.0\.0\.1|\[::1\]):[1-9]\d*$/);
    await using channel = new GrpcChannel(address);
    expect(text(await channel.unary("/t.T/Echo", bytes("x")))).toBe("x");
  });

  test.each(["0.0.0.0:0", "tcp://[::]:0"])(
    "on %s is refused without TLS, unless it is said to be fine",
    async (address) => {
      const error = await failureOf(newServer().listen(address));
      expect(String(error)).toMatch(/refusing to listen on .* without TLS.*`tls`.*`allowInsecurePublic: true`/);
      const server = newServer();
      const hasIpv6 = Object.values(networkInterfaces())
        .flat()
        .some((one) => one?.family === "IPv6");
      if (address.includes("[") && !hasIpv6) return;
      expect(await server.listen(address, { allowInsecurePublic: true })).toMatch(/:[1-9]\d*$/);
    },
  );

  test("on a port that is taken is the system's error", async () => {
    const address = await newServer().listen("127.0.0.1:0");
    await expect(newServer().listen(address)).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("a closed server", () => {
  test("listens no more, and closing it again is the same", async () => {
    await using directory = await openDirectory();
    const server = newServer();
    await server.listen(`unix:${directory.path("s")}`);
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await closing;
    await expect(server.listen(`unix:${directory.path("s")}`)).rejects.toThrow("the server is closed");
    expect(await readdir(directory.path("."))).toEqual([]);
    await using channel = new GrpcChannel(`unix:${directory.path("s")}`);
    expect(await failureOf(channel.unary("/t.T/Echo", bytes("")))).toMatchObject({ code: Status.unavailable });
  });

  test("that is closed while it begins to listen listens not", async () => {
    await using directory = await openDirectory();
    const server = newServer();
    const listening = failureOf(server.listen(`unix:${directory.path("s")}`));
    await server.close();
    expect(await listening).toMatchObject({ message: "the server is closed" });
    expect(await readdir(directory.path("."))).toEqual([]);
    const answered = await new Promise((resolve) => {
      connect(directory.path("s")).once("error", resolve).once("connect", resolve);
    });
    expect(answered).toMatchObject({ code: "ENOENT" });
  });
});
