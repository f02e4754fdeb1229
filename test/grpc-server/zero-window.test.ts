import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { create, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createResource, OpaqueSpec } from "homeostat";
import { State } from "../gen/cosi/resource/state_pb.ts";
import { connect } from "../../src/grpc/index.ts";
import { TemporaryFolder } from "./fixture.ts";

const NODE = [process.execPath, "--conditions=source"] as const;
/** Keeps what V8 lets lie until its next collection out of the measure: up to 48 MB by default. */
const SMALL_YOUNG_GENERATION = "--max-semi-space-size=2";
const MAX_BYTES = 100 * 1024 * 1024;
const kind = { namespace: "n", type: "Larges.test.dev" };
const { get, list, watch } = State.method;

/** A server in a process of its own, so that its memory can be measured. */
async function startServer(folder: TemporaryFolder) {
  const path = join(folder.path, "s");
  const program = join(import.meta.dirname, "..", "..", "bench", "load", "server.ts");
  const child = spawn(NODE[0], [NODE[1], SMALL_YOUNG_GENERATION, program, `unix:${path}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    path,
    memory: async (): Promise<number> => {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs the client until it has sent everything, then for so long that the server has done what it does. */
async function attack(path: string, method: string, calls: number, body: Uint8Array) {
  const program = join(import.meta.dirname, "..", "fixtures", "zero-window-client.ts");
  const base64 = Buffer.from(body).toString("base64");
  const args = [NODE[1], program, path, method, `${calls}`, base64];
  const child = spawn(NODE[0], args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(createInterface({ input: child.stdout }), "line");
  return {
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const encode = <D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array =>
  toBinary(schema, create(schema, init));

const CASES = [
  ["Get", 20_000, encode(get.input, { ...kind, id: "r0" })],
  ["List", 2_000, encode(list.input, kind)],
  ["Watch", 2_000, encode(watch.input, { ...kind, options: { bootstrapContents: true, aggregated: true } })],
] as const;

describe.concurrent("a client with a window of 0, which opens its calls before it sends their bodies", () => {
  test.skipIf(process.platform !== "linux").each(CASES)(
    "%s, %i times 1 MB, costs less than 100 MB, and others are served",
    { timeout: 120_000 },
    async (name, calls, body) => {
      await using folder = await TemporaryFolder.make();
      await using server = await startServer(folder);
      await using state = connect(`unix:${server.path}`);
      for (let i = 0; i < 3; i++) {
        await state.create(createResource({ ...kind, id: `r${i}` }, new OpaqueSpec({ yaml: "x".repeat(1_000_000) })));
      }
      const before = await server.memory();
      await using _client = await attack(server.path, `/cosi.resource.State/${name}`, calls, body);
      let most = 0;
      for (let round = 0; round < 20; round++) {
        await state.get({ ...kind, id: "r0" });
        most = Math.max(most, (await server.memory()) - before);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(most).toBeLessThan(MAX_BYTES);
    },
  );
});
