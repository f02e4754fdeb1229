import type { StateServerOptions } from "../grpc/index.ts";
import type { State } from "../state/index.ts";
import type { Serving } from "./control-plane.ts";

/** Calls that are open when a control plane stops may take this long. */
const GRACE_MS = 2_000;

/** Serves a State at all the addresses, or at none. What the server needs is loaded now. */
export async function serveState(
  state: State,
  listen: readonly string[],
  options: StateServerOptions,
  onListenError?: (error: Error, address: string) => void,
): Promise<Serving> {
  const { server } = await import("../grpc/index.ts");
  const serving = server(state, options);
  const addresses: string[] = [];
  try {
    for (const address of listen) {
      try {
        addresses.push((await serving.listen(address)).address);
      } catch (error) {
        if (onListenError === undefined || !(error instanceof Error)) throw error;
        onListenError(error, address);
      }
    }
  } catch (error) {
    await serving.close({ graceMs: 0 });
    throw error;
  }
  return { addresses, close: () => serving.close({ graceMs: GRACE_MS }) };
}
