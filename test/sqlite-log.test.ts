import { copyFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createResource } from "../src/resource/index.ts";
import { sqlite } from "../src/sqlite/index.ts";
import { EventType, type Event, type Watch } from "../src/state/index.ts";
import { Int, seededRandom, Str } from "../src/testing/index.ts";
import { expectLogToMatch } from "./fixtures/sqlite-log-check.ts";

const SEED = Number(process.env["SQLITE_SEED"] ?? Date.now() % 2 ** 31);
const KIND = { namespace: "default", type: Int.type };

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-sqlite-"));
  path = join(folder, "data.db");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options = {}) => sqlite(path, { types: [Int, Str], ...options });

async function take(watch: Watch, count: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  while (events.length < count) {
    const { value, done } = await watch.next();
    if (done === true) throw new Error(`the watch ended after ${events.length} of ${count} events`);
    events.push(value);
  }
  return events;
}

const told = (events: readonly Event[]): readonly unknown[] =>
  events.map(({ type, resource, old, bookmark }) => ({ type, resource, old, bookmark }));

/** So many creates of Int. */
async function create(count: number, prefix = "i", options = {}): Promise<void> {
  await using state = open(options);
  await Promise.all(Array.from({ length: count }, (_, n) => state.create(Int.create(`${prefix}${n}`, { value: n }))));
}

const edit = (sql: string): void => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};

const logged = (): number => {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("SELECT count(*) AS count FROM event").get();
  database.close();
  return Number(row?.["count"]);
};

const resume = async (startFromBookmark: Uint8Array | undefined, options = {}): Promise<void> => {
  await using state = open(options);
  await using watch = await state.watchKind(Int, { startFromBookmark });
  expect(watch).toBeDefined();
};

const EXPIRED = { code: "invalid_bookmark" };

describe("a watch goes on in the next process", () => {
  test("[storage D2] from every bookmark: nothing lost, nothing twice, whatever was written", async () => {
    const random = seededRandom(SEED);
    const seen: Event[] = [];
    for (let life = 0; life < 4; life++) {
      await using state = open();
      await using watch = await state.watchKind(Int);
      for (let n = 0; n < 40; n++) {
        const id = `i${Math.floor(random() * 6)}`;
        if ((await state.getOrNull(Int, id)) === undefined) await state.create(Int.create(id, { value: n }));
        else if (random() < 0.4) await state.destroy(Int.ref(id));
        else await state.modify(Int, id, (spec) => void (spec.value = -1 - n));
      }
      // What is written of another kind has numbers of its own.
      await state.create(Str.create(`s${life}`, { value: "x" }));
      seen.push(...(await take(watch, 40)));
    }
    expectLogToMatch(path);
    await using state = open();
    for (const [index, { bookmark }] of seen.entries()) {
      await using watch = await state.watchKind(Int, { startFromBookmark: bookmark });
      const later = seen.slice(index + 1);
      expect({ seed: SEED, index, events: told(await take(watch, later.length)) }).toEqual({
        seed: SEED,
        index,
        events: told(later),
      });
    }
    await using watch = await state.watchKind(Int, { tailEvents: 5 });
    expect(told(await take(watch, 5))).toEqual(told(seen.slice(-5)));
  });

  test("with the very resources that are its contents: what came back is held once", async () => {
    await create(3);
    await using state = open();
    await using watch = await state.watchKind(Int, { tailEvents: 3 });
    const events = await take(watch, 3);
    const list = await state.list(Int);
    for (const [index, { resource }] of events.entries()) expect(resource).toBe(list[index]);
  });

  test("[storage D3] from the bookmark of a kind in which nothing was ever written", async () => {
    const bookmark = await (async () => {
      await using state = open();
      await using watch = await state.watchKind(Int, { bootstrapBookmark: true });
      return (await take(watch, 1))[0]?.bookmark;
    })();
    await using state = open();
    await state.create(Int.create("a", { value: 1 }));
    await using watch = await state.watchKind(Int, { startFromBookmark: bookmark });
    expect((await take(watch, 1))[0]).toMatchObject({ type: EventType.created, resource: { metadata: { id: "a" } } });
  });

  test("[storage D4] as far as its log reaches back, and not one change further", async () => {
    const history = { maxCapacity: 10, gap: 0 };
    const bookmarks = await (async () => {
      await using state = open({ history });
      await using watch = await state.watchKind(Int);
      for (let n = 0; n < 30; n++) await state.create(Int.create(`i${n}`, { value: n }));
      await using tail = await state.watchKind(Int, { tailEvents: 10 });
      expect(watch).toBeDefined();
      return (await take(tail, 10)).map(({ bookmark }) => bookmark);
    })();
    await resume(bookmarks[0], { history });
    await create(1, "j", { history });
    await resume(bookmarks[1], { history });
    await expect(resume(bookmarks[0], { history })).rejects.toMatchObject(EXPIRED);
  });

  test("[storage D5] a bookmark of another file, of another kind, or ahead of the log is refused", async () => {
    await create(5);
    const last = await (async () => {
      await using state = open();
      await using watch = await state.watchKind(Int, { tailEvents: 1 });
      return (await take(watch, 1))[0]?.bookmark;
    })();
    {
      await using state = open();
      await state.create(Str.create("s", { value: "x" }));
      await expect(state.watchKind(Str, { startFromBookmark: last })).rejects.toMatchObject(EXPIRED);
    }
    edit(
      "DELETE FROM event WHERE revision = 5; UPDATE kind SET revision = 4 WHERE revision = 5; DELETE FROM resource WHERE id = 'i4'",
    );
    await expect(resume(last)).rejects.toMatchObject(EXPIRED);
    path = join(folder, "other.db");
    await create(5);
    await expect(resume(last)).rejects.toMatchObject(EXPIRED);
  });
});

test("[storage D15] a copy that is put back with a new epoch accepts no bookmark of before", async () => {
  await create(2);
  copyFileSync(path, `${path}.copy`);
  await create(2, "lost");
  const last = await (async () => {
    await using state = open();
    await using watch = await state.watchKind(Int, { tailEvents: 1 });
    return (await take(watch, 1))[0]?.bookmark;
  })();
  await resume(last);
  copyFileSync(`${path}.copy`, path);
  await expect(resume(last)).rejects.toMatchObject(EXPIRED);
  edit("UPDATE store SET epoch = randomblob(8)");
  await create(4, "new");
  await expect(resume(last)).rejects.toMatchObject(EXPIRED);
});

test("[storage D17] namespaces, types and ids of any shape come back, and are told apart", async () => {
  const parts = ["a/b", "%2F", "a b", "é😀", "x".repeat(1_024), "'; DROP TABLE resource; --", "a", "A"];
  const pointers = parts.flatMap((part) => [
    { namespace: part, type: Int.type, id: part },
    { namespace: "default", type: `T/${part}`, id: part },
  ]);
  {
    await using state = sqlite(path);
    for (const [value, pointer] of pointers.entries()) await state.create(createResource(pointer, { value }));
  }
  expectLogToMatch(path);
  await using state = sqlite(path);
  for (const pointer of pointers) {
    expect((await state.list(pointer)).map(({ metadata }) => metadata.id)).toEqual([pointer.id]);
    expect((await state.get(pointer)).metadata).toMatchObject(pointer);
  }
});

describe("the log", () => {
  test("is compacted as it grows: it holds what can be read, and a little more", async () => {
    const history = { maxCapacity: 100 };
    for (let life = 0; life < 3; life++) await create(1_000, `l${life}-`, { history });
    expect(logged()).toBeLessThan(100 + 256 + 1_000);
    expectLogToMatch(path);
  });

  test("has a bound in bytes, too", async () => {
    const history = { maxCapacity: 100_000, maxBytes: 10_000 };
    for (let life = 0; life < 3; life++) await create(600, `l${life}-`, { history });
    expect(logged()).toBeLessThan(1_000);
    await using state = open({ history });
    expect(await state.list(Int)).toHaveLength(1_800);
  });

  test("with a gap is refused, and says of what", async () => {
    await create(5);
    edit("DELETE FROM event WHERE revision = 3");
    await using state = open();
    await expect(state.list(Int)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(
        `the log of ${Int.type} in "default" in ${path} does not lead up to its change 5`,
      ),
    });
  });

  test("that ends before the last change is refused", async () => {
    await create(5);
    edit("DELETE FROM event WHERE revision = 5");
    await using state = open();
    await expect(state.get(Int, "i1")).rejects.toMatchObject({ code: "unavailable" });
  });

  test("was not there in the first form of the file: it is brought up to date, and its histories begin then", async () => {
    await create(5);
    edit("DROP TABLE event; PRAGMA user_version = 1");
    await create(2, "j");
    expect(logged()).toBe(2);
    await using state = open();
    const list = await state.list(Int);
    expect([list.length, list.revision]).toEqual([7, 7]);
    await using watch = await state.watchKind(KIND, { tailEvents: 10 });
    expect((await take(watch, 2)).map(({ resource }) => resource?.metadata.id)).toEqual(["j0", "j1"]);
  });
});
