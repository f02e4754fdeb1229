import type { Access, AccessVerb, Query } from "../../state/index.ts";
import type { ServerCall } from "../../rpc/index.ts";
import type { TokenIdentity } from "./bearer-tokens.ts";
import type { Caller } from "./caller.ts";

/** One operation that a caller asks for, with what its request says besides the address. */
export interface CallAccess extends Access {
  /** What a list, or the watch of a kind, is narrowed to. */
  readonly query?: Query | undefined;
}

/**
 * Called before each operation, a watch at its start alone; `Teardown` and `TeardownAndDestroy` are asked for as
 * `destroy`. What it throws denies the operation: a `GrpcError` goes out with its status, a `StateError` as its
 * category, anything else as UNKNOWN, with its message. `accessDenied` makes the usual one.
 */
export type CallAccessRule = (access: CallAccess, caller: Caller) => void | Promise<void>;

/** Asks the rule whether a call may go on. A promise only when the rule gives one. */
export type Admit = (
  call: ServerCall,
  verb: AccessVerb,
  target: { readonly namespace: string; readonly type: string; readonly id?: string | undefined },
  more?: Pick<CallAccess, "query" | "owner" | "resource" | "stored">,
) => void | Promise<void>;

/** {@link Admit} by a rule; without one, everything is allowed. */
export function admitBy(rule: CallAccessRule | undefined): Admit {
  if (rule === undefined) return () => {};
  return (call, verb, { namespace, type, id = "" }, more) => {
    const { peer, metadata } = call;
    const token = (call.identity as TokenIdentity | undefined)?.token;
    return rule({ namespace, type, id, verb, ...more }, { peer, token, metadata });
  };
}
