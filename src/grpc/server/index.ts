export { accessDenied } from "./access-denied.ts";
export type { CallAccess, CallAccessRule } from "./access.ts";
export type { BearerToken } from "./bearer-tokens.ts";
export type { Caller } from "./caller.ts";
export type { StateServerOptions } from "./server-options.ts";
export { server, type StateServer } from "./state-server.ts";
