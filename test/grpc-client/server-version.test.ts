import { expect, test } from "vitest";
import { encodeServerVersion, SERVER_VERSION_PATH } from "../../src/grpc/server-version.ts";
import { askServerVersion } from "../../src/grpc/index.ts";
import { GrpcError, GrpcServer, Status, type ServerMethod } from "../../src/rpc/index.ts";

async function ask(method: ServerMethod | undefined, timeoutMs?: number): Promise<unknown> {
  const methods = new Map(method === undefined ? [] : [[SERVER_VERSION_PATH, method]]);
  const server = new GrpcServer({ methods });
  const address = await server.listen("127.0.0.1:0");
  try {
    return await askServerVersion(address, { timeoutMs });
  } finally {
    await server.close({ graceMs: 0 });
  }
}

const version = { name: "homeostat", version: "1.2.3" };
const answering: ServerMethod = { kind: "unary", handler: async () => encodeServerVersion(version) };

test("a server of ours says its version, within a time or without a limit", async () => {
  for (const timeoutMs of [undefined, 5_000, Infinity]) expect(await ask(answering, timeoutMs)).toEqual(version);
});

test("one that does not know the question has none", async () => {
  expect(await ask(undefined)).toBeUndefined();
});

test("one that refuses the caller is an error", async () => {
  const refuse = () => Promise.reject(new GrpcError(Status.unauthenticated, "who are you?"));
  await expect(ask({ kind: "unary", handler: refuse })).rejects.toMatchObject({ code: Status.unauthenticated });
});

test("one that does not answer is waited for no longer than it may take", async () => {
  const silent: ServerMethod = { kind: "unary", handler: () => new Promise(() => undefined) };
  await expect(ask(silent, 50)).rejects.toMatchObject({ code: Status.deadlineExceeded });
});
