import { expect, test } from "vitest";
import { PendingCalls } from "./pending-calls.ts";

const kind = { namespace: "default", type: "T" };

test("calls that have not settled are named, oldest first, with a kind or a resource", async () => {
  const calls = new PendingCalls();
  const [first, second, third, fourth] = [1, 2, 3, 4].map(() => Promise.withResolvers<number>());
  const answer = calls.note("get", { ...kind, id: "one" }, first?.promise ?? Promise.resolve(0));
  const failing = calls.note("list", kind, second?.promise ?? Promise.resolve(0));
  void calls.note("watch", { ...kind, id: "" }, third?.promise ?? Promise.resolve(0));
  expect(calls.describe()).toEqual(["get of T(default/one)", "list of T(default)", "watch of T(default)"]);
  first?.resolve(7);
  expect(await answer).toBe(7);
  second?.reject(new Error("broken"));
  await expect(failing).rejects.toThrow("broken");
  expect(calls.describe()).toEqual(["watch of T(default)"]);
  void calls.note("create", { ...kind, id: "two" }, fourth?.promise ?? Promise.resolve(0));
  expect(calls.describe()).toEqual(["watch of T(default)", "create of T(default/two)"]);
});

test("of many calls at once each is named until it has settled itself", async () => {
  const calls = new PendingCalls();
  for (let round = 0; round < 3; round++) {
    const open = Array.from({ length: 200 }, () => Promise.withResolvers<void>());
    const answers = open.map(({ promise }, i) => calls.note("get", { ...kind, id: `r${i}` }, promise));
    expect(calls.describe()).toHaveLength(200);
    open.slice(1).forEach(({ resolve }) => resolve());
    await Promise.all(answers.slice(1));
    expect(calls.describe()).toEqual(["get of T(default/r0)"]);
    open[0]?.resolve();
    await answers[0];
    expect(calls.describe()).toEqual([]);
  }
});
