import type { GrpcError } from "../../grpc-error.ts";
import { ACCEPTED_ENCODINGS } from "../request/message-inflater.ts";
import { encodeBytes, type HeaderFields, sizeOfHeaders } from "../../metadata.ts";
import { encodeMessage } from "../../percent-encoding.ts";
import { Status } from "../../status.ts";

/** Largest trailers that are sent. Unit: bytes, as HTTP/2 counts them. */
const MAX_TRAILERS_BYTES = 32 * 1024;

/** Longest text of a status; a longer one is cut. Unit: bytes, as encoded. */
const MAX_MESSAGE_BYTES = 4096;

/** Headers of every response: of one with messages, and of a status alone, to which its trailers are added. */
export const RESPONSE_HEADERS: HeaderFields = Object.freeze({
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": ACCEPTED_ENCODINGS,
});

const OK_TRAILERS: HeaderFields = Object.freeze({ "grpc-status": String(Status.ok) });

/** Trailers of a call that went well. */
export function okTrailers(metadata: HeaderFields | undefined): HeaderFields {
  return metadata === undefined ? OK_TRAILERS : { ...metadata, ...OK_TRAILERS };
}

/**
 * Trailers of a call that failed. Details and metadata that make them too large are left out, as the peer would
 * refuse the whole: the status is what matters most.
 *
 * @param metadata - Sent beside the error's own, which go first where both have a name.
 */
export function statusTrailers(error: GrpcError, metadata: HeaderFields | undefined): HeaderFields {
  const status: Record<string, string> = { "grpc-status": String(error.code) };
  if (error.message !== "") status["grpc-message"] = encodeMessage(error.message, MAX_MESSAGE_BYTES);
  const details =
    error.details.length === 0 ? status : { ...status, "grpc-status-details-bin": encodeBytes(error.details) };
  const all = { ...metadata, ...error.metadata.toHeaders(), ...details };
  return [all, details].find((trailers) => sizeOfHeaders(trailers) <= MAX_TRAILERS_BYTES) ?? status;
}
