/** One measurement; the fields are those of the Go program beside ours. */
export interface Measurement {
  readonly name: string;
  /** How often it was done. */
  readonly n: number;
  readonly seconds?: number;
  readonly per_second?: number;
  readonly bytes_each?: number;
  /** Latencies. Unit: microseconds. */
  readonly p50_us?: number;
  readonly p99_us?: number;
}

/** Takes measurements as they are made. */
export type Report = (measurement: Measurement) => void;

/** Two collections: the first finds what dies, the second what only weak references and finalizers kept. */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error("run the benchmarks with node --expose-gc");
  globalThis.gc();
  globalThis.gc();
}

/**
 * Does `work`, which is `n` operations, once. The heap is as the work before has left it: a forced collection would
 * shrink the young generation, and measure how it grows again.
 */
export async function rate(report: Report, name: string, n: number, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  report({ name, n, seconds, per_second: n / seconds });
}

/** Reports the median and the 99th percentile. @param durationsMs - Not empty; is sorted in place. */
export function latency(report: Report, name: string, durationsMs: Float64Array): void {
  durationsMs.sort();
  const at = (share: number) => (durationsMs[Math.floor(durationsMs.length * share)] ?? Number.NaN) * 1000;
  report({ name, n: durationsMs.length, p50_us: at(0.5), p99_us: at(0.99) });
}

/** Memory that is in use after a collection. Unit: bytes. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
