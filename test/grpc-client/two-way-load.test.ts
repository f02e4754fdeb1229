import { describe, expect, test } from "vitest";
import { runLoad } from "../../bench/load/run.ts";

// Both ends write as much as they can at once: creations of 20 KB and of 100 bytes, large ones, large gets, lists, events
// for a hundred watchers. `node:http2` stops reading while a write of its own is pending, so two ends that fill each
// other's socket would wait for ever. `npm run load` does the same for long.

describe("load in both directions at once, between two processes", () => {
  test("ends on a unix socket", { timeout: 120_000 }, async () => {
    expect(await runLoad({ transport: "unix", seed: 1, rounds: 14, scale: 0.1 })).toBe(14);
  });

  test("ends on TCP", { timeout: 120_000 }, async () => {
    expect(await runLoad({ transport: "tcp", seed: 100, rounds: 6, scale: 0.1 })).toBe(6);
  });
});
