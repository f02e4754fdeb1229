import { chmodSync, readFileSync, statSync, writeFileSync, existsSync, truncateSync } from "node:fs";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SystemClock } from "../src/clock/index.ts";
import { defineResource, OpaqueSpec, shape } from "../src/resource/index.ts";
import { sqlite } from "../src/sqlite/index.ts";
import { Int, runtimeConformance, stateConformance, Str } from "../src/testing/index.ts";

const Guest = defineResource({
  type: "Guests.sqlite.example.dev",
  spec: shape({ name: "string", "tags?": ["string"] }),
});

const run = promisify(execFile);

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-sqlite-"));
  path = join(folder, "data.db");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A State on a file of its own. */
function freshState() {
  let count = 0;
  return () => sqlite(join(folder, `${count++}.db`));
}

describe.concurrent("the State suite on SQLite", () => {
  stateConformance({ test }, { newState: () => freshState()(), namespaces: ["one", "two"] });
});

describe.concurrent("the engine's suite on SQLite", () => {
  runtimeConformance({ test }, { newState: () => freshState()(), variant: "cached" });
});

describe("what was acknowledged is there again", () => {
  test("[storage D10] resources of known types, whole: versions, times, owners, finalizers, labels", async () => {
    const before = await (async () => {
      await using state = sqlite(path, { types: [Guest] });
      await state.create(Guest.create("a", { name: "ann", tags: ["x"] }, { labels: { tier: "front" } }), {
        owner: "me",
      });
      await state.create(Guest.create("b", { name: "bob" }, { annotations: { note: "é" }, finalizers: ["F"] }));
      await state.create(Guest.create("gone", { name: "x" }));
      await state.destroy(Guest.ref("gone"));
      await state.modify(Guest, "a", (spec) => void (spec.name = "anna"), { owner: "me" });
      await state.teardown(Guest.ref("b"));
      return state.list(Guest);
    })();
    await using state = sqlite(path, { types: [Guest] });
    const after = await state.list(Guest);
    expect([...after]).toEqual([...before]);
    expect(after.revision).toBe(before.revision);
    expect(after.map(({ spec }) => spec.name)).toEqual(["anna", "bob"]);
  });

  test("[storage D11] others opaque, with what a peer could make of them", async () => {
    {
      await using state = sqlite(path);
      await state.create(Guest.create("a", { name: "ann" }));
    }
    {
      await using state = sqlite(path);
      const { spec } = await state.get({ namespace: "default", type: Guest.type, id: "a" });
      expect(spec).toBeInstanceOf(OpaqueSpec);
    }
    await using state = sqlite(path, { types: [Guest] });
    expect((await state.get(Guest, "a")).spec).toEqual({ name: "ann" });
  });

  test("lives are told apart: times of creation go on, whatever the clock does", async () => {
    let now = 2_000_000_000_000;
    const clock = () => Object.assign(Object.create(realClock()) as ReturnType<typeof realClock>, { now: () => now });
    const created: string[] = [];
    for (const id of ["a", "b", "c"]) {
      await using state = sqlite(path, { clock: clock() });
      created.push((await state.create(Int.create(id, { value: 1 }))).metadata.created);
      await state.destroy(Int.ref(id));
      now -= 1_000_000;
    }
    expect([...created].sort()).toEqual(created);
    expect(new Set(created).size).toBe(3);
  });
});

const realClock = () => new SystemClock();

describe("a group of writes", () => {
  test("each is checked against those before it, and sees none that is not stored", async () => {
    await using state = sqlite(path, { types: [Guest] });
    const results = await Promise.allSettled([
      state.create(Guest.create("a", { name: "1" })),
      state.create(Guest.create("a", { name: "2" })),
      state.destroy(Guest.ref("a")),
      state.create(Guest.create("a", { name: "3" })),
      state.getOrNull(Guest, "a"),
      state.destroy(Guest.ref("none")),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(results[1]).toMatchObject({ reason: { code: "already_exists" } });
    expect(results[4]).toMatchObject({ value: undefined });
    expect((await state.get(Guest, "a")).spec.name).toBe("3");
  });

  test("one that is aborted before its turn does not happen, and takes no other along", async () => {
    await using state = sqlite(path);
    const stop = new AbortController();
    const aborted = state.create(Int.create("a", { value: 1 }), { signal: stop.signal });
    const kept = state.create(Int.create("b", { value: 1 }));
    stop.abort();
    await expect(aborted).rejects.toThrow("aborted");
    await kept;
    expect((await state.list(Int)).map(({ metadata }) => metadata.id)).toEqual(["b"]);
  });

  test("one that cannot be stored in any form is refused alone", async () => {
    await using state = sqlite(path);
    const results = await Promise.allSettled([
      state.create(Int.create("a", { value: 1 })),
      state.create(Str.create("bad", { value: String.fromCharCode(0xd800) })),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(results[1]).toMatchObject({ reason: { code: "invalid" } });
  });

  test("[storage L2] a full disk takes all of a group back, is told of, and is no end", async () => {
    const writer = join(import.meta.dirname, "fixtures", "sqlite-full-disk.ts");
    // Files may grow to 300 KiB, and no signal says so.
    const limited = `trap '' XFSZ; ulimit -f 300; exec "$0" --conditions=source "$1" "$2"`;
    const { stdout } = await run("bash", ["-c", limited, process.execPath, writer, path]);
    expect(JSON.parse(stdout)).toMatchObject({
      failed: {
        code: "unavailable",
        message: expect.stringMatching(/^the create of .* is not stored: (the disk is full|disk I\/O error)/),
      },
      listed: true,
      small: "created",
    });
    await using state = sqlite(path);
    expect((await state.list(Str)).length).toBeGreaterThan(0);
  });

  test("writes that were called before the disposal are finished, later ones refused", async () => {
    const state = sqlite(path);
    const written = state.create(Int.create("a", { value: 1 }));
    const disposed = state[Symbol.asyncDispose]();
    await expect(state.create(Int.create("b", { value: 1 }))).rejects.toMatchObject({ code: "unavailable" });
    await written;
    await disposed;
    await state[Symbol.asyncDispose]();
    await using again = sqlite(path);
    expect((await again.list(Int)).map(({ metadata }) => metadata.id)).toEqual(["a"]);
  });
});

describe("the file", () => {
  test("is this user's alone, and leaves nothing beside it when it is closed", async () => {
    await sqlite(path)[Symbol.asyncDispose]();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const suffix of ["-wal", "-owner", "-journal"]) expect(existsSync(`${path}${suffix}`)).toBe(false);
  });

  test("has one owner, whom a second is told of", async () => {
    const state = sqlite(path);
    expect(() => sqlite(path)).toThrow(
      expect.objectContaining({
        code: "unavailable",
        message: expect.stringContaining(`another process has it open: pid ${process.pid}`),
      }),
    );
    await state.create(Int.create("a", { value: 1 }));
    await state[Symbol.asyncDispose]();
    await using again = sqlite(path);
    expect(await again.list(Int)).toHaveLength(1);
  });

  test.each<[string, (file: string) => void | Promise<void>, RegExp]>([
    [
      "text",
      (file) => writeFileSync(file, "this is no database, but long enough to look like a file".repeat(100)),
      /is no SQLite database/,
    ],
    [
      "the database of another program",
      (file) => {
        const other = new DatabaseSync(file);
        other.exec("CREATE TABLE t (x)");
        other.close();
      },
      /is the database of another program/,
    ],
    [
      "a later version",
      async (file) => {
        await sqliteOnce(file);
        const other = new DatabaseSync(file);
        other.exec("PRAGMA user_version = 99");
        other.close();
      },
      /the form 99 of a later version of Homeostat, this one knows 2/,
    ],
    [
      "damaged",
      async (file) => {
        await sqliteOnce(file);
        const bytes = readFileSync(file);
        bytes.fill(0xff, 4096, bytes.length);
        writeFileSync(file, bytes);
      },
      /is damaged/,
    ],
    [
      "cut off",
      async (file) => {
        await sqliteOnce(file);
        truncateSync(file, 5000);
      },
      /is damaged/,
    ],
  ])("that is %s is refused, and left as it is", async (_, make, message) => {
    await make(path);
    const before = readFileSync(path);
    expect(() => sqlite(path)).toThrow(
      expect.objectContaining({ code: "unavailable", message: expect.stringMatching(message) }),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("in a folder that is not there, or that is a folder itself", () => {
    expect(() => sqlite(join(folder, "none", "data.db"))).toThrow(/cannot be opened/);
    expect(() => sqlite(folder)).toThrow(/it is no file/);
  });

  test.skipIf(process.getuid?.() === 0)("that is read-only is refused", async () => {
    await sqliteOnce(path);
    chmodSync(path, 0o400);
    expect(() => sqlite(path)).toThrow(/read-only|cannot be opened/);
  });
});

/** Makes a file with something in it. */
async function sqliteOnce(file: string): Promise<void> {
  await using state = sqlite(file, { types: [Guest] });
  for (let n = 0; n < 100; n++) await state.create(Guest.create(`g${n}`, { name: "x".repeat(200) }));
}
