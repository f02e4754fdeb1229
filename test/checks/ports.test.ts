import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "..", "..", "scripts", "check-ports.ts");
const folder = await mkdtemp(join(tmpdir(), "ports-"));
afterAll(() => rm(folder, { recursive: true }));

async function check(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await rm(join(folder, "src"), { recursive: true, force: true });
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const done = await promisify(execFile)(process.execPath, [SCRIPT, folder]).catch(
    (error: { stderr: string }) => error,
  );
  return done.stderr.split("\n").filter((line) => line !== "");
}

test("refuses every direct use of time, scheduling and randomness, each by its place", async () => {
  const uses: Readonly<Record<string, string>> = {
    "Math.random();": "Math.random",
    "Math['random']();": "Math.random",
    "const { random } = Math;": "Math.random",
    "const draw = Math.random;": "Math.random",
    "Date.now();": "Date.now",
    "new Date();": "new Date()",
    "Date();": "new Date()",
    "performance.now();": "performance",
    "globalThis.performance.now();": "performance",
    "crypto.randomUUID();": "crypto",
    "setTimeout(() => {}, 1);": "setTimeout",
    "const { setInterval: every } = globalThis;": "setInterval",
    "setImmediate(() => {});": "setImmediate",
    "queueMicrotask(() => {});": "queueMicrotask",
    "AbortSignal.timeout(1);": "AbortSignal.timeout",
    "new WeakRef({});": "WeakRef",
    "process.nextTick(() => {});": "process.nextTick",
    "import { setTimeout as sleep } from 'node:timers/promises';": "node:timers/promises",
    "import { randomUUID } from 'node:crypto';": "randomUUID",
    "import * as all from 'node:crypto';": "randomBytes",
  };
  const lines = Object.keys(uses);
  const found = await check({ "src/rpc/one.ts": lines.join("\n") });
  const expected = Object.values(uses).map((what, index) => `src/rpc/one.ts:${index + 1}: ${what}`);
  expect(found.map((line) => line.slice(0, line.lastIndexOf(": ")))).toEqual(expected);
});

test("allows what is no use: names of one's own, types, other members, dates of a known time", async () => {
  const text = `
    class Mine { setTimeout(): void {} get performance() { return 1; } }
    new Mine().setTimeout();
    let timer: ReturnType<typeof setTimeout>;
    new Date(0); Date.parse("x"); Math.max(1, 2); AbortSignal.any([]);
    import { createHash } from "node:crypto";
    const options = { random: () => 0.5, crypto: 1 };
  `;
  expect(await check({ "src/rpc/one.ts": text, "src/rpc/one.test.ts": "setTimeout(() => {}, 1);" })).toEqual([]);
});

test("refuses Node's globals where the core runs anywhere", async () => {
  const text = "Buffer.from('x');\nprocess.env;\nrequire('x');\nglobalThis.process;";
  const found = await check({ "src/state/one.ts": text, "src/rpc/one.ts": text });
  expect(found).toEqual(
    ["Buffer", "process", "require", "process"].map(
      (name, index) => `src/state/one.ts:${index + 1}: ${name}: browsers lack it`,
    ),
  );
});
