import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { sqlite } from "../src/sqlite/index.ts";
import { Int, seededRandom } from "../src/testing/index.ts";
import { expectLogToMatch } from "./fixtures/sqlite-log-check.ts";

/** `npm run soak:sqlite` kills 300 times. */
const ROUNDS = Number(process.env["SQLITE_KILLS"] ?? 20);
const SEED = Number(process.env["SQLITE_SEED"] ?? Date.now() % 2 ** 31);
const WRITER = join(import.meta.dirname, "fixtures", "sqlite-writer.ts");

/** Runs a writer on the file and kills it after a while; gives what was acknowledged. */
async function writeUntilKilled(path: string, round: number, afterMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, ["--conditions=source", WRITER, path, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = text(child.stdout);
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "readable"), exited]);
  await setTimeout(afterMs);
  child.kill("SIGKILL");
  await exited;
  // The last line may be cut.
  return (await output).split("\n").slice(0, -1);
}

test(
  `[storage D7] killed ${ROUNDS} times while it writes, it has all that was acknowledged`,
  { timeout: ROUNDS * 5_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "homeostat-sqlite-"));
    const path = join(folder, "data.db");
    const random = seededRandom(SEED);
    /** Id → the version that was acknowledged last; undefined once its end was. */
    const acknowledged = new Map<string, string | undefined>();
    let writes = 0;
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const lines = await writeUntilKilled(path, round, random() * 150);
        expect(lines[0]).toBe("open");
        for (const line of lines.slice(1)) {
          const [what, id = "", version] = line.split(" ");
          acknowledged.set(id, what === "d" ? undefined : version);
          writes++;
        }
        expectLogToMatch(path);
        await using state = sqlite(path, { types: [Int] });
        const list = await state.list(Int);
        const found = new Map(list.map((resource) => [resource.metadata.id, resource]));
        const lost: string[] = [];
        for (const [id, version] of acknowledged) {
          const resource = found.get(id);
          // What was not acknowledged any more may have happened: one step on, and no further.
          if (version === undefined ? resource !== undefined : !isAtLeast(resource?.metadata.version, version))
            lost.push(id);
        }
        // Of the third of the ids that is destroyed, one may be gone without a word.
        const silent = lost.filter((id) => !found.has(id) && id.startsWith(`r${round}-`) && isThird(id));
        expect({ seed: SEED, round, lost: lost.filter((id) => !silent.includes(id)) }).toEqual({
          seed: SEED,
          round,
          lost: [],
        });
        expect(silent.length).toBeLessThanOrEqual(8);
        for (const id of silent) acknowledged.set(id, undefined);
        expect(list.revision).toBeGreaterThanOrEqual(writes);
        for (const { spec, metadata } of list) expect(Math.abs(spec.value)).toBe(Number(metadata.id.split("-")[2]) + 1);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect(writes).toBeGreaterThan(ROUNDS);
  },
);

const isAtLeast = (found: string | undefined, acknowledged: string): boolean =>
  found !== undefined && Number(found) >= Number(acknowledged);

const isThird = (id: string): boolean => Number(id.split("-")[2]) % 3 === 0;

test("a database of SQLite's own tools can read it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "homeostat-sqlite-"));
  const path = join(folder, "data.db");
  {
    await using state = sqlite(path, { types: [Int] });
    await state.create(Int.create("a", { value: 1 }));
    await state.create(Int.create("b", { value: 1 }));
    await state.destroy(Int.ref("b"));
  }
  const database = new DatabaseSync(path, { readOnly: true });
  expect(database.prepare("SELECT namespace, type, revision FROM kind").all()).toEqual([
    { namespace: "default", type: Int.type, revision: 3 },
  ]);
  expect(database.prepare("SELECT id FROM resource").all()).toEqual([{ id: "a" }]);
  database.close();
  await rm(folder, { recursive: true, force: true });
});
