import { causeChain, readForeign } from "../internal/foreign-value.ts";
import type { Pointer } from "./pointer.ts";
import type { SpecIssue } from "./spec/spec-issue.ts";

/** Everything that can go wrong on purpose; `docs/errors.md` says for each who throws it and whether a retry helps. */
export const StateErrorCode = {
  notFound: "not_found",
  alreadyExists: "already_exists",
  versionConflict: "version_conflict",
  ownerConflict: "owner_conflict",
  phaseConflict: "phase_conflict",
  pendingFinalizers: "pending_finalizers",
  invalidBookmark: "invalid_bookmark",
  watchOverrun: "watch_overrun",
  typeMismatch: "type_mismatch",
  invalid: "invalid",
  unsupported: "unsupported",
  unavailable: "unavailable",
} as const;
export type StateErrorCode = (typeof StateErrorCode)[keyof typeof StateErrorCode];

/** What a {@link StateError} carries besides its code and message. */
export interface StateErrorOptions extends ErrorOptions {
  /** The resource concerned; every conflict carries one. */
  readonly pointer?: Pointer | undefined;
  /** What is wrong with its spec, one by one. */
  readonly issues?: readonly SpecIssue[] | undefined;
}

/** Every error that a State throws on purpose. Test it with {@link isNotFound}, {@link isConflict} and the like. */
export class StateError extends Error {
  override readonly name: string = "StateError";
  readonly code: StateErrorCode;
  /** Address of the resource concerned, where there is one. */
  readonly pointer: Pointer | undefined;
  /** What is wrong with a spec, where that is the reason. */
  readonly issues: readonly SpecIssue[] | undefined;

  constructor(code: StateErrorCode, message: string, options: StateErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.issues = options.issues;
    this.pointer = options.pointer && {
      namespace: options.pointer.namespace,
      type: options.pointer.type,
      id: options.pointer.id,
    };
  }
}

const CONFLICTS: ReadonlySet<unknown> = new Set<StateErrorCode>([
  "already_exists",
  "version_conflict",
  "owner_conflict",
  "phase_conflict",
  "pending_finalizers",
]);

/** True when `accepts` agrees to an error in `error`'s `cause` chain. */
function someCause(error: unknown, accepts: (code: unknown, candidate: Error) => boolean): boolean {
  for (const candidate of causeChain(error)) if (accepts(readForeign(candidate, "code"), candidate)) return true;
  return false;
}

/** True when `error`, or anything in its `cause` chain, carries one of `codes`. */
export function hasCode(error: unknown, ...codes: readonly StateErrorCode[]): boolean {
  return someCause(error, (code) => (codes as readonly unknown[]).includes(code));
}

/** Narrows {@link isConflict}: every given field must equal that of the conflict's pointer. */
export interface ConflictFilter {
  readonly namespace?: string | undefined;
  readonly type?: string | undefined;
}

/** True for every conflict: exists already, stale version, foreign owner, wrong phase, pending finalizers. */
export function isConflict(error: unknown, filter: ConflictFilter = {}): boolean {
  return someCause(error, (code, candidate) => {
    if (!CONFLICTS.has(code)) return false;
    const pointer = readForeign(candidate, "pointer");
    return (["namespace", "type"] as const).every(
      (field) => filter[field] === undefined || readForeign(pointer, field) === filter[field],
    );
  });
}

/** True when `error`, or anything in its cause chain, says that the resource does not exist. */
export const isNotFound = (error: unknown): boolean => hasCode(error, "not_found");
/** True when `error`, or anything in its cause chain, says that the resource has another owner. */
export const isOwnerConflict = (error: unknown): boolean => hasCode(error, "owner_conflict");
/** True when `error`, or anything in its cause chain, says that the resource is in another phase than expected. */
export const isPhaseConflict = (error: unknown): boolean => hasCode(error, "phase_conflict");
/** True when `error`, or anything in its cause chain, says that the bookmark is foreign or too old: resynchronise. */
export const isInvalidBookmark = (error: unknown): boolean => hasCode(error, "invalid_bookmark");
/** True when `error`, or anything in its cause chain, says that the State cannot do this. */
export const isUnsupported = (error: unknown): boolean => hasCode(error, "unsupported");
