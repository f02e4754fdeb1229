import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { connect } from "../../src/grpc/client/index.ts";
import { server } from "../../src/grpc/server/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import type { CoreState } from "../../src/state/index.ts";
import { Int, PathResource, Sentence, stateConformance, Str } from "../../src/testing/index.ts";

const types = [Int, PathResource, Sentence, Str];
const namespaces = ["default", "controller", "system", "runtime"];

let folder: string;
let sockets = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A State behind a server and a connection, all of which end with it. */
async function newState(): Promise<CoreState> {
  const endpoint = `unix:${join(folder, `${sockets++}.sock`)}`;
  const local = new MemoryState({ types });
  const serving = server(local, { types });
  await serving.listen(endpoint);
  const remote = connect(endpoint, { types });
  const dispose = remote[Symbol.asyncDispose].bind(remote);
  remote[Symbol.asyncDispose] = async () => {
    await dispose();
    await serving.close();
    await local[Symbol.asyncDispose]();
  };
  return remote;
}

describe("a State behind our server and our client [state 69] [transport T1]", () => {
  stateConformance({ test }, { newState, namespaces });
});
