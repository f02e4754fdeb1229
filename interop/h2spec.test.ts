import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { server } from "../src/grpc/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { hasGo } from "./go-program.ts";

const run = promisify(execFile);
const H2SPEC = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";
const BUILD_MS = 300_000;
const RUN_MS = 120_000;

let folder = "";
let program = "";

/** The names of the cases that a server fails. */
async function failures(port: number): Promise<readonly string[]> {
  // Seconds that it waits for an answer: long enough for a busy machine, and what it waits for in vain takes as long.
  const args = ["-h", "127.0.0.1", "-p", String(port), "-o", "2"];
  const { stdout } = await run(program, args, { maxBuffer: 2 ** 24, timeout: RUN_MS }).catch(
    (error: { readonly stdout: string }) => error,
  );
  expect(stdout).toMatch(/\d+ tests, \d+ passed/);
  return failedCases(stdout.slice(stdout.indexOf("Failures:")));
}

/** Each failed case with the part of the specification that it belongs to: names come more than once. */
function failedCases(report: string): readonly string[] {
  const failed: string[] = [];
  let [suite, section] = ["", ""];
  for (const line of report.split("\n")) {
    const [, number] = /^ +(\d+(?:\.\d+)*)\. /u.exec(line) ?? [];
    const [, name] = /^ +× (\d+: .+)$/u.exec(line) ?? [];
    if (/^\S/u.test(line)) suite = line.trim();
    if (number !== undefined) section = number;
    if (name !== undefined) failed.push(`${suite} ${section}/${name}`);
  }
  return failed;
}

describe.skipIf(!hasGo)("h2spec", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    program = join(folder, "h2spec");
    await run("go", ["install", H2SPEC], { env: { ...process.env, GOBIN: folder, GOFLAGS: "" } });
  }, BUILD_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("fails nothing that a bare server of Node with the same settings passes", { timeout: 2 * RUN_MS }, async () => {
    // What is no call of gRPC gets headers alone from ours, so Node's does the same.
    const bare = createServer({ settings: { maxConcurrentStreams: 11_000 } });
    bare.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 405 }, { endStream: true });
      stream.close();
    });
    bare.on("sessionError", () => undefined);
    await once(bare.listen(0, "127.0.0.1"), "listening");
    const ofNode = await failures((bare.address() as AddressInfo).port);
    bare.close();

    const serving = server(new MemoryState(), { maxConnections: 1000 });
    const { address } = await serving.listen("tcp:127.0.0.1:0");
    const ofOurs = await failures(Number(address.slice(address.lastIndexOf(":") + 1)));
    await serving.close({ graceMs: 0 });

    const worse = ofOurs.filter((name) => !ofNode.includes(name));
    expect(worse, `Node fails ${ofNode.length}, ours ${ofOurs.length}`).toEqual([]);
  });
});
