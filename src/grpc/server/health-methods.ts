import { GrpcError, Status, type CallInfo, type ServerCall, type ServerStreamCall } from "../../rpc/index.ts";
import { WireError, WireReader } from "../../wire/index.ts";
import { encodeMessage } from "../messages/encode-message.ts";
import { STATE_SERVICE } from "../rpc.ts";
import type { Method } from "./method.ts";
import type { WatchSlots } from "./watch-slots.ts";

const SERVICE = "grpc.health.v1.Health";
const SERVICE_TAG = 0x0a;
const STATUS_TAG = 0x08;

/** What a server says of a service; the protocol has more. */
const ServingStatus = { serving: 1, serviceUnknown: 3 } as const;

/** What can be asked about: the server as a whole, and its service. */
const KNOWN: ReadonlySet<string> = new Set(["", STATE_SERVICE]);

/** True for the calls that need no token: those who ask are often load balancers and supervisors, which have none. */
export const isHealthCall = ({ path }: CallInfo): boolean => path.startsWith(`/${SERVICE}/`);

/**
 * The standard health service, for which load balancers, Kubernetes' probes and `grpc_health_probe` look. It says that
 * the server takes calls; one that is shutting down takes none, and ends the watches that there are with UNAVAILABLE.
 */
export function healthMethods(watches: WatchSlots): readonly Method[] {
  const check = (call: ServerCall): Uint8Array => {
    const service = readService(call.message);
    if (KNOWN.has(service)) return encodeStatus(ServingStatus.serving);
    throw new GrpcError(
      Status.notFound,
      `there is no service ${JSON.stringify(service.slice(0, 200))}; there is ${STATE_SERVICE}`,
    );
  };

  const watch = async (call: ServerStreamCall): Promise<void> => {
    const isKnown = KNOWN.has(readService(call.message));
    watches.take(call.peer);
    try {
      call.send(encodeStatus(isKnown ? ServingStatus.serving : ServingStatus.serviceUnknown));
      await aborted(call.signal);
    } finally {
      watches.release(call.peer);
    }
  };

  return [
    [`/${SERVICE}/Check`, { kind: "unary", handler: check }],
    [`/${SERVICE}/Watch`, { kind: "serverStream", handler: watch, onShutdown: "cancel" }],
  ];
}

/** @throws {GrpcError} INTERNAL when the request is no message. */
function readService(message: Uint8Array): string {
  try {
    const reader = new WireReader(message);
    let service = "";
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === SERVICE_TAG) service = reader.string();
      else reader.skip(tag);
    }
    return service;
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new GrpcError(Status.internal, cause.message, { cause });
  }
}

const encodeStatus = (status: number): Uint8Array =>
  encodeMessage((writer) => writer.uint32Field(STATUS_TAG, status), 8);

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
