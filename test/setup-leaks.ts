import { afterAll, beforeAll } from "vitest";

// A test file fails if something that it started still runs after it: a timer, a socket, a server, a child process.
// What was there before the file started is not its fault; what ends within the grace time is no leak. Timers of
// `node:timers/promises` are not seen.

const GRACE_MS = 1_000;
const POLL_MS = 10;
/** Number of noted timers from which on the finished ones among them are forgotten. */
const PRUNE_ABOVE = 10_000;
const HANDLES: ReadonlySet<string> = new Set([
  "FSEventWrap",
  "PipeServerWrap",
  "PipeWrap",
  "ProcessWrap",
  "StatWatcher",
  "TCPServerWrap",
  "TCPSocketWrap",
  "TLSWrap",
  "UDPWrap",
  "Worker",
]);

type StartTimer = typeof setTimeout | typeof setInterval;

interface Tracker {
  readonly timers: Set<NodeJS.Timeout>;
  readonly wait: (ms: number) => Promise<void>;
}

/** A timer that has neither fired nor been cleared, and keeps the process alive. Node has no public question for it. */
const ticks = (timer: NodeJS.Timeout): boolean => timer.hasRef() && "_destroyed" in timer && !timer._destroyed;

function prune(timers: Set<NodeJS.Timeout>): void {
  for (const timer of timers) if (!ticks(timer)) timers.delete(timer);
}

/**
 * Notes every timer that tests and sources start. The runner's own, of which some tick at any moment, are not among
 * them: it took the functions before this file ran. Installed once in a thread, for all the files that share it.
 */
function installTracker(): Tracker {
  const timers = new Set<NodeJS.Timeout>();
  const realSetTimeout = globalThis.setTimeout;
  const noting = <F extends StartTimer>(real: F): F =>
    new Proxy(real, {
      apply(target, self, args) {
        const timer = Reflect.apply(target, self, args) as NodeJS.Timeout;
        timers.add(timer);
        if (timers.size > PRUNE_ABOVE) prune(timers);
        return timer;
      },
    });
  globalThis.setTimeout = noting(realSetTimeout);
  globalThis.setInterval = noting(globalThis.setInterval);
  return { timers, wait: (ms) => new Promise((resolve) => realSetTimeout(resolve, ms)) };
}

const shared = globalThis as { leakTracker?: Tracker };
const { timers, wait } = (shared.leakTracker ??= installTracker());

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (HANDLES.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function leftOver(before: ReadonlyMap<string, number>): string[] {
  const left = [...countHandles()]
    .map(([name, count]) => ({ name, extra: count - (before.get(name) ?? 0) }))
    .filter(({ extra }) => extra > 0)
    .map(({ name, extra }) => `${extra} × ${name}`);
  const ticking = [...timers].filter(ticks).length;
  return ticking === 0 ? left : [...left, `${ticking} × timer`];
}

let before: ReadonlyMap<string, number> = new Map();

beforeAll(() => {
  timers.clear();
  before = countHandles();
});

// After-hooks run in the opposite order of their registration: this one is the last of the file.
afterAll(async () => {
  const rounds = GRACE_MS / POLL_MS;
  let left = leftOver(before);
  for (let round = 0; round < rounds && left.length > 0; round += 1) {
    await wait(POLL_MS);
    left = leftOver(before);
  }
  if (left.length > 0) throw new Error(`still running after the tests of this file: ${left.join(", ")}`);
});
