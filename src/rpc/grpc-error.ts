import { causeChain } from "../internal/foreign-value.ts";
import { type Status, statusName } from "./status.ts";
import { type Metadata, noMetadata } from "./metadata.ts";

const NO_DETAILS = new Uint8Array(0);

/** What a {@link GrpcError} carries besides its code and text. */
export interface GrpcErrorOptions extends ErrorOptions {
  /** An encoded `google.rpc.Status`, sent as `grpc-status-details-bin`. Default: none. */
  readonly details?: Uint8Array | undefined;
  /** Trailers of the call. Default: none. */
  readonly metadata?: Metadata | undefined;
}

/**
 * A call that ended with another status than OK. A handler throws one to end its call with that status; a client's
 * call rejects with one. The loss of a connection is UNAVAILABLE; such a call may have been carried out.
 */
export class GrpcError extends Error {
  override readonly name: string = "GrpcError";
  readonly code: Status;
  /** An encoded `google.rpc.Status`; empty when the peer sent none. */
  readonly details: Uint8Array;
  readonly metadata: Metadata;

  constructor(code: Status, message: string, options: GrpcErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? NO_DETAILS;
    this.metadata = options.metadata ?? noMetadata;
  }

  override toString(): string {
    return `${this.name}: ${statusName(this.code)}: ${this.message}`;
  }
}

/** True when `error`, or anything in its `cause` chain, is a {@link GrpcError} with one of `codes`; no code means any. */
export function isGrpcError(error: unknown, ...codes: readonly Status[]): error is Error {
  for (const one of causeChain(error)) {
    if (one instanceof GrpcError && (codes.length === 0 || codes.includes(one.code))) return true;
  }
  return false;
}
