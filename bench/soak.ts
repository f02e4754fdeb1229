// `npm run soak -- --minutes 10`: does memory stay flat while watchers join and leave, in process and over a socket? Prints
// a sample now and then and a verdict; exits with 1 when it does not hold.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { MemoryState } from "homeostat";
import { connect, server } from "homeostat/grpc";
import { Item, SoakLoad } from "./soak-load.ts";

const USAGE = `usage: npm run soak -- [--minutes N]

40 watchers join and leave, half of them in process and half over a unix socket, beside 4 writers, for N minutes
(default 10). Memory has to be flat after the first minute (or the first fifth of a shorter run), and at most 1.2 times
what contents and history need by themselves.`;

const WATCHERS = 40;
const WRITERS = 4;
const RESOURCES = 5_000;
const TEXT_BYTES = 2_000;
/** How often memory is looked at in a run. */
const SAMPLES = 60;
const MAX_GROWTH = 1.05;
const MAX_OVERHEAD = 1.2;
const MIB = 2 ** 20;

/** What is alive. Unit: bytes. */
function liveBytes(): number {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc, as npm run soak does");
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

function parseMinutes(): number | undefined {
  const { values } = parseArgs({
    options: { minutes: { type: "string", default: "10" }, help: { type: "boolean", short: "h", default: false } },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (minutes > 0 && minutes <= 1440) return minutes;
  throw new RangeError(`--minutes must be a number above 0, at most 1440, got ${JSON.stringify(values.minutes)}`);
}

/** Memory over a run, after the first part of it. */
async function sampleFor(minutes: number, load: SoakLoad): Promise<readonly number[]> {
  const totalMs = minutes * 60_000;
  const warmUpMs = Math.min(60_000, totalMs / 5);
  const startMs = performance.now();
  const samples: number[] = [];
  for (let sample = 1; sample <= SAMPLES; sample++) {
    await sleep(Math.max(0, startMs + (sample * totalMs) / SAMPLES - performance.now()));
    const elapsedMs = performance.now() - startMs;
    const bytes = liveBytes();
    if (elapsedMs > warmUpMs) samples.push(bytes);
    const { joined, left, writes, events } = load;
    console.log(
      `${(elapsedMs / 1000).toFixed(0)} s: ${(bytes / MIB).toFixed(1)} MiB, ${joined} watches joined, ${left} left, ` +
        `${writes} writes, ${events} events`,
    );
  }
  return samples;
}

/** What is wrong, in words. */
function judgeMemory(samples: readonly number[], neededBytes: number): readonly string[] {
  const quarter = Math.ceil(samples.length / 4);
  const growth = median(samples.slice(-quarter)) / median(samples.slice(0, quarter));
  const overhead = Math.max(...samples) / neededBytes;
  console.log(
    `contents and history need ${(neededBytes / MIB).toFixed(1)} MiB; at most ${overhead.toFixed(2)} times that was ` +
      `alive, and the last quarter of the run held ${growth.toFixed(3)} times what the first did`,
  );
  return [
    ...(growth > MAX_GROWTH ? [`memory grew by more than ${MAX_GROWTH}`] : []),
    ...(overhead > MAX_OVERHEAD ? [`memory was more than ${MAX_OVERHEAD} times what contents and history need`] : []),
  ];
}

async function soak(minutes: number): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "homeostat-soak-"));
  try {
    await using state = new MemoryState({ types: [Item] });
    await using served = server(state, { types: [Item] });
    const { address } = await served.listen(`unix:${join(folder, "s")}`);
    await using remote = connect(address, { types: [Item] });
    const load = new SoakLoad({
      watched: [state, remote],
      written: state,
      watchers: WATCHERS,
      writers: WRITERS,
      resources: RESOURCES,
      textBytes: TEXT_BYTES,
    });
    await load.fill();
    await remote.list(Item);
    // What reading them once left behind goes in a moment.
    await sleep(1_000);
    liveBytes();
    await sleep(1_000);
    const neededBytes = liveBytes();
    const stop = new AbortController();
    const running = load.run(stop.signal);
    const samples = await Promise.race([sampleFor(minutes, load), running.then(() => [])]);
    stop.abort();
    await running.catch((error: unknown) => {
      if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
    });
    const broken = [...judgeMemory(samples, neededBytes)];
    // A server learns of the last watches' end a moment later.
    for (let wait = 0; wait < 100 && served.watchCount > 0; wait++) await sleep(10);
    if (served.watchCount > 0) broken.push(`${served.watchCount} watches of clients are still open`);
    return broken;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  const minutes = parseMinutes();
  if (minutes === undefined) console.log(USAGE);
  else {
    const broken = await soak(minutes);
    console.log(broken.length === 0 ? "held" : `broken: ${broken.join("; ")}`);
    if (broken.length > 0) process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof RangeError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
