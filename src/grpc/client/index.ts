export { connect } from "./connect.ts";
export type { ConnectOptions, WatchInterruption, WatchResumption } from "./client-options.ts";
export type { WatchRetryOptions } from "./watch-retry.ts";
