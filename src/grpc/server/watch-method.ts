import type { CoreState, Event, Watch } from "../../state/index.ts";
import { API_VERSION, decodeWatchRequest, type WatchRequest } from "../messages/watch-request.ts";
import { Rpc } from "../rpc.ts";
import { GrpcError, Status, type ServerStreamCall } from "../../rpc/index.ts";
import { streamMethod, type Method } from "./method.ts";
import type { StateService } from "./state-service.ts";
import { WatchStream } from "./watch-stream.ts";

/**
 * Watch. The watch in the State is opened first; then one empty message tells the client so, before any event. It lives
 * until the client cancels, the State ends it, or the server stops. When the client has fallen behind further than the
 * history reaches, it gets an error event, and the stream stays open with nothing behind it: clients take the end of a
 * stream for a second error.
 */
export function watchMethod(service: StateService): Method {
  const watch = async (call: ServerStreamCall): Promise<void> => {
    const request = decodeWatchRequest(call.message);
    checkRequest(request);
    const { kind, id, query, apiVersion } = request;
    await service.admit(call, "watch", { ...kind, id }, id === undefined ? { query } : undefined);
    service.watches.take(call.peer);
    let failure: Error | undefined;
    try {
      failure = await serve(service, request, call);
    } finally {
      service.watches.release(call.peer);
    }
    call.signal.throwIfAborted();
    if (failure === undefined) throw new GrpcError(Status.unavailable, "the State has ended the watch");
    // An older client does not know the event that told of it.
    if (apiVersion < API_VERSION) throw failure;
    await aborted(call.signal);
  };
  return streamMethod(Rpc.watch, service.logger, watch, "cancel");
}

/** What a watch of one resource cannot have; everything else is for the State to judge. */
function checkRequest({ id, query, options }: WatchRequest): void {
  if (id === undefined) return;
  const what = options.bootstrap === true ? "bootstrap_contents" : query.labels && "label_query";
  if (what === undefined) return;
  throw new GrpcError(Status.unimplemented, `${what} is not for the watch of one resource`);
}

/** Sends what the watch has to say until it is over. Returns what it failed of, if it did; it is released by then. */
async function serve(service: StateService, request: WatchRequest, call: ServerStreamCall): Promise<Error | undefined> {
  const watch = await open(service.state, request, call.signal);
  const { id, options, apiVersion } = request;
  const aggregated = id === undefined && options.aggregated === true;
  const stream = new WatchStream(call, service, { apiVersion, aggregated });
  stream.start();
  for await (const next of watch) {
    const batch = "type" in next ? [next] : next;
    const drained = stream.send(batch);
    if (drained !== undefined) await drained;
    const failure = batch.at(-1)?.error;
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/**
 * Of a kind, batches serve both forms: a watch that hands out single events holds the same behind them. What peers do
 * not know, a watch that goes on after it fell behind, they must not get.
 */
function open(
  state: CoreState,
  { kind, id, query, options }: WatchRequest,
  signal: AbortSignal,
): Promise<Watch<Event | readonly Event[]>> {
  const { bootstrap, bootstrapBookmark, tailEvents, startFromBookmark } = options;
  const common = { tailEvents, startFromBookmark, bootstrapBookmark, overrun: "error", signal } as const;
  if (id !== undefined) return state.watch({ ...kind, id }, common);
  return state.watchKindBatches(kind, { ...query, ...common, bootstrap });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
