import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { StateErrorCode, type Pointer } from "../resource/index.ts";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "./gen/google/rpc/status_pb.ts";
import type { Status } from "../rpc/index.ts";

/** Whose reasons these are; other domains may use the same words. */
const DOMAIN = "homeostat";

/** Longer addresses are left out: details travel as a header, and headers are small. Unit: UTF-16 units. */
const MAX_ADDRESS_LENGTH = 1000;

/** Reason on the wire → code. The reason is the code in capitals. */
const CODES: ReadonlyMap<string, StateErrorCode> = new Map(
  Object.values(StateErrorCode).map((code) => [code.toUpperCase(), code]),
);

/** What the details of a status say about a State. */
export interface ErrorDetails {
  readonly code: StateErrorCode;
  readonly pointer: Pointer | undefined;
}

/** Details for `grpc-status-details-bin`: readers that do not know them pass over them. */
export function encodeErrorDetails(
  status: Status,
  message: string,
  code: StateErrorCode,
  pointer: Pointer | undefined,
): Uint8Array {
  const info = create(ErrorInfoSchema, {
    reason: code.toUpperCase(),
    domain: DOMAIN,
    metadata: pointer === undefined || !isShort(pointer) ? {} : { ...pointer },
  });
  const details = [anyPack(ErrorInfoSchema, info)];
  return toBinary(StatusSchema, create(StatusSchema, { code: status, message, details }));
}

function isShort({ namespace, type, id }: Pointer): boolean {
  const text = namespace + type + id;
  return text.length <= MAX_ADDRESS_LENGTH && text.isWellFormed();
}

/** What details say about a State; undefined when they say nothing that this side understands. */
export function decodeErrorDetails(bytes: Uint8Array): ErrorDetails | undefined {
  for (const detail of detailsOf(bytes)) {
    const code = detail.domain === DOMAIN ? CODES.get(detail.reason) : undefined;
    if (code === undefined) continue;
    const { namespace, type, id } = detail.metadata;
    const isComplete = namespace !== undefined && type !== undefined && id !== undefined;
    return { code, pointer: isComplete ? { namespace, type, id } : undefined };
  }
  return undefined;
}

interface Detail {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: { readonly [key in "namespace" | "type" | "id"]?: string };
}

/** The ErrorInfo messages among the details. Whatever else a peer sends says nothing about a State. */
function detailsOf(bytes: Uint8Array): readonly Detail[] {
  try {
    return fromBinary(StatusSchema, bytes).details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
  } catch {
    return [];
  }
}
