import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

test("tasks run one after another, in the order of the calls", async () => {
  const queue = new SerialQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run(async () => {
    log.push("first begins");
    await gate.promise;
    log.push("first ends");
  });
  const second = queue.run(() => log.push("second"));
  await Promise.resolve();
  await Promise.resolve();
  expect(log).toEqual(["first begins"]);
  gate.resolve();
  await Promise.all([first, second]);
  expect(log).toEqual(["first begins", "first ends", "second"]);
});

test("a failure is its own caller's: the next task runs", async () => {
  const queue = new SerialQueue();
  const failed = queue.run(() => Promise.reject(new Error("no")));
  const thrown = queue.run((): number => {
    throw new Error("thrown");
  });
  const good = queue.run(() => 3);
  await expect(failed).rejects.toThrow("no");
  await expect(thrown).rejects.toThrow("thrown");
  expect(await good).toBe(3);
});
