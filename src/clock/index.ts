// Time as a port: what the library asks of a clock, the system's, and a manual one for tests. Start with clock.ts.
export { Backoff, resolveBackoff, type BackoffOptions, type ResolvedBackoff } from "./backoff.ts";
export type { Clock, SleepOptions, Timer } from "./clock.ts";
export { Deadlines, type Expiring } from "./deadlines.ts";
export { endsWithin } from "./ends-within.ts";
export { macrotask } from "./macrotask.ts";
export { ManualClock } from "./manual-clock.ts";
export { SystemClock } from "./system-clock.ts";
export { TokenBucket } from "./token-bucket.ts";
