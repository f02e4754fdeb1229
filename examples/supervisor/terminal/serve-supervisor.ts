import { defaultEndpoint, server } from "homeostat/grpc";

import type { Supervisor } from "../supervisor.ts";
import type { Happening } from "./describe-change.ts";

/** Those who watch when the supervisor ends have this time to hear of it. */
const GRACE_MS = 500;

/**
 * Serves the state of a supervisor, so that the command `homeostat` shows and changes it. In the usual place another
 * control plane may be served already: then this one is not, and says so.
 *
 * @param listen - An address; undefined for the usual place, empty for nowhere.
 * @throws {Error} when an address that was asked for cannot be used.
 */
export async function serveSupervisor(
  { state, types }: Supervisor,
  listen: string | undefined,
  say: (happening: Happening) => void,
): Promise<AsyncDisposable> {
  const serving = server(state, { types });
  const stop: AsyncDisposable = { [Symbol.asyncDispose]: () => serving.close({ graceMs: GRACE_MS }) };
  if (listen === "") return stop;
  try {
    const wanted = listen ?? (await defaultEndpoint({ env: process.env, create: true }));
    const { address } = await serving.listen(wanted);
    const endpoint = listen === undefined ? "" : ` --endpoint ${address}`;
    say({ level: "info", text: `in another terminal: npm run -s homeostat -- get status -w${endpoint}` });
  } catch (error) {
    if (listen !== undefined) throw error;
    say({ level: "warn", text: `the state is not served: ${(error as Error).message}; see --listen` });
  }
  return stop;
}
