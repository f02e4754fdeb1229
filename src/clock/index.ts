export type { Clock, SleepOptions, Timer } from "./clock.ts";
export { ManualClock } from "./manual-clock.ts";
export { SystemClock } from "./system-clock.ts";
