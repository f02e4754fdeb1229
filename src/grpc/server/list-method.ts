import { decodeListRequest } from "../messages/list-request.ts";
import { Rpc } from "../rpc.ts";
import type { ServerStreamCall } from "../../rpc/index.ts";
import { streamMethod, type Method } from "./method.ts";
import type { StateService } from "./state-service.ts";

/** So many bytes of messages are sent at a time, then room is waited for. */
const PIECE_BYTES = 60_000;

/** List: one message for each resource. They are encoded as the client takes them, if they are not yet. */
export function listMethod({ state, resources, admit, logger }: StateService): Method {
  const list = async (call: ServerStreamCall): Promise<void> => {
    const { kind, query } = decodeListRequest(call.message);
    await admit(call, "list", kind, { query });
    const found = await state.list(kind, { ...query, signal: call.signal });
    if (!call.hasRoom) await call.drained();
    let messages: Uint8Array[] = [];
    let bytes = 0;
    for (const resource of found) {
      const message = resources.encodeField(resource);
      messages.push(message);
      bytes += message.length;
      if (bytes < PIECE_BYTES) continue;
      if (!call.send(messages)) await call.drained();
      messages = [];
      bytes = 0;
    }
    if (messages.length > 0) call.send(messages);
  };
  return streamMethod(Rpc.list, logger, list, "finish");
}
