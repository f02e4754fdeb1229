import { afterAll, beforeAll } from "vitest";

// A test file fails if something that it started still runs after it: a timer, a socket, a server, a child process.
// What was there before the file started is not its fault; what closes within the grace time is no leak.

const GRACE_MS = 1_000;
const POLL_MS = 10;
const WATCHED: ReadonlySet<string> = new Set([
  "FSEventWrap",
  "Immediate",
  "PipeServerWrap",
  "PipeWrap",
  "ProcessWrap",
  "StatWatcher",
  "TCPServerWrap",
  "TCPSocketWrap",
  "Timeout",
  "TLSWrap",
  "UDPWrap",
  "Worker",
]);

// Taken before any test can put fake timers in their place.
const realSetTimeout = globalThis.setTimeout;
const realNow = performance.now.bind(performance);

function countActive(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (WATCHED.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function leftOver(before: ReadonlyMap<string, number>): string[] {
  return [...countActive()]
    .map(([name, count]) => ({ name, extra: count - (before.get(name) ?? 0) }))
    .filter(({ extra }) => extra > 0)
    .map(({ name, extra }) => `${extra} × ${name}`);
}

// Both counts are taken inside a hook, so that the runner's own timer of a hook is in both.
let before: ReadonlyMap<string, number> = new Map();

beforeAll(() => {
  before = countActive();
});

// After-hooks run in the opposite order of their registration: this one is the last of the file.
afterAll(async () => {
  const deadline = realNow() + GRACE_MS;
  let left = leftOver(before);
  while (left.length > 0 && realNow() < deadline) {
    await new Promise((resolve) => realSetTimeout(resolve, POLL_MS));
    left = leftOver(before);
  }
  if (left.length > 0) throw new Error(`still running after the tests of this file: ${left.join(", ")}`);
});
