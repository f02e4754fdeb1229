/** Status codes of gRPC, by name. */
export const Status = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** How a call ended. */
export type Status = (typeof Status)[keyof typeof Status];

const NAMES: readonly string[] = Object.keys(Status).map((name) => name.replace(/[A-Z]/g, "_$&").toUpperCase());

/** Name of a code as gRPC writes it, for example `NOT_FOUND`. */
export function statusName(code: Status): string {
  return NAMES[code] ?? String(code);
}

/** The code in a `grpc-status` header. What is no code of gRPC counts as UNKNOWN, as the protocol asks. */
export function parseStatus(text: string): Status {
  if (!/^\d{1,2}$/.test(text)) return Status.unknown;
  const code = Number(text);
  // Each whole number from 0 to 16 is a code.
  return code <= Status.unauthenticated ? (code as Status) : Status.unknown;
}

/** The code for an answer that is no gRPC at all, by its HTTP status: what a proxy says on the server's behalf. */
export function statusOfHttp(httpStatus: number): Status {
  switch (httpStatus) {
    case 400:
      return Status.internal;
    case 401:
      return Status.unauthenticated;
    case 403:
      return Status.permissionDenied;
    case 404:
    case 405:
      return Status.unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Status.unavailable;
    default:
      return Status.unknown;
  }
}
