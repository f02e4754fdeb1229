import type { Clock } from "../../clock/index.ts";
import type { DuplexCall, ServerMethod, UnaryMethod } from "../../rpc/index.ts";
import { pathOf, Rpc } from "../rpc.ts";
import { SESSION_PATH, type SessionRpc } from "../session/session-message.ts";
import { ServerSession, type SessionHandler } from "../session/server-session.ts";
import type { Method } from "./method.ts";

/** Calls of one session that run at once; its client waits with more. */
const MAX_CONCURRENT_CALLS = 10_000;

/** Bounds of sessions, which are those of calls. */
export interface SessionBounds {
  readonly clock: Clock;
  readonly maxConcurrentCalls: number;
  readonly maxCallsPerSecond: number;
}

/** The sessions of a server. */
export interface SessionCounter {
  count: number;
}

/** Open of the session service: calls on one stream, each run by the method that it has as a call of its own. */
export function sessionMethod(methods: readonly Method[], bounds: SessionBounds, sessions: SessionCounter): Method {
  const byPath = new Map<string, ServerMethod>(methods);
  const handlerOf = (rpc: SessionRpc): SessionHandler => {
    const { handler } = byPath.get(pathOf(rpc)) as UnaryMethod;
    return async (call) => handler(call);
  };
  const options = {
    ...bounds,
    maxConcurrentCalls: Math.min(bounds.maxConcurrentCalls, MAX_CONCURRENT_CALLS),
    handlers: {
      [Rpc.get]: handlerOf(Rpc.get),
      [Rpc.create]: handlerOf(Rpc.create),
      [Rpc.update]: handlerOf(Rpc.update),
      [Rpc.destroy]: handlerOf(Rpc.destroy),
      [Rpc.teardown]: handlerOf(Rpc.teardown),
    },
  };
  const handler = async (call: DuplexCall): Promise<void> => {
    sessions.count++;
    try {
      await new ServerSession(call, options).run();
    } finally {
      sessions.count--;
    }
  };
  return [SESSION_PATH, { kind: "duplex", handler }];
}
