import { describe, expect, test } from "vitest";
import { UnreadBytes } from "./unread-bytes.ts";

/** Unread bytes of which the test confirms what was read. */
function open(limitBytes = 100) {
  const asked: (() => void)[] = [];
  let rooms = 0;
  const unread = new UnreadBytes(
    limitBytes,
    (done) => asked.push(done),
    () => (rooms += 1),
  );
  return { unread, asked, rooms: () => rooms, confirm: () => asked.shift()?.() };
}

describe("UnreadBytes", () => {
  test("lets go what fits, and anything when nothing is unread", () => {
    const { unread, asked } = open();
    expect(unread.hasRoom(1_000)).toBe(true);
    unread.add(60);
    expect(unread.hasRoom(40)).toBe(true);
    expect(asked).toHaveLength(0);
    expect(unread.hasRoom(41)).toBe(false);
    expect(asked).toHaveLength(1);
  });

  test("a response shows that all before it was read, without asking", () => {
    const { unread, rooms } = open();
    const first = unread.add(60);
    const second = unread.add(40);
    unread.read(first);
    expect(rooms()).toBe(0);
    expect(unread.hasRoom(61)).toBe(false);
    unread.read(second);
    expect(rooms()).toBe(1);
    expect(unread.hasRoom(1_000)).toBe(true);
    // An earlier one, that comes later, says nothing new.
    unread.add(50);
    unread.read(first);
    expect(unread.hasRoom(51)).toBe(false);
  });

  test("what is sent after the question is not confirmed by its answer", () => {
    const { unread, confirm, asked, rooms } = open();
    unread.add(80);
    expect(unread.hasRoom(30)).toBe(false);
    unread.add(20);
    confirm();
    expect(rooms()).toBe(1);
    expect(unread.hasRoom(81)).toBe(false);
    expect(asked).toHaveLength(1);
  });

  test("asks once at a time, and again when responses were quicker than the answer", () => {
    const { unread, confirm, asked, rooms } = open();
    const first = unread.add(100);
    expect(unread.hasRoom(1)).toBe(false);
    expect(unread.hasRoom(1)).toBe(false);
    expect(asked).toHaveLength(1);
    unread.read(first);
    expect(rooms()).toBe(1);
    unread.add(100);
    expect(unread.hasRoom(1)).toBe(false);
    confirm();
    // The answer was about what was known to be read: who still has no room asks again.
    expect(rooms()).toBe(2);
    expect(unread.hasRoom(1)).toBe(false);
    confirm();
    expect(rooms()).toBe(3);
    expect(unread.hasRoom(100)).toBe(true);
  });
});
