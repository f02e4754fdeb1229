import type { Metadata } from "./metadata.ts";
import { formatReference, type Pointer } from "../pointer.ts";
import { StateError } from "../state-error.ts";
import { compareTimes } from "./timestamp.ts";
import { UNDEFINED_VERSION } from "./version.ts";

/**
 * The address of a resource and, where `created` says so, of one life of it: of what was created there at that moment,
 * and not of what is created there after its end. Metadata that a State gave out is one.
 */
export interface LifePointer extends Pointer {
  readonly created?: string | undefined;
}

/** Where RFC 3339 has the point before the fraction of a second. */
const POINT_AT = 19;

/**
 * When the life that `pointer` names began; undefined when it names an address alone. Metadata names a life once a State
 * has stored it: it has a version, and a time of creation that is finer than a second. The times of metadata that was
 * made by hand or read from YAML are not.
 */
export function lifeOf(pointer: Pointer): string | undefined {
  const { created, version } = pointer as Partial<Metadata>;
  if (typeof created !== "string" || created[POINT_AT] !== "." || version === UNDEFINED_VERSION) return undefined;
  return created;
}

/** A copy with nothing but the address, and the life if `pointer` names one. */
export function lifePointer(pointer: Pointer): LifePointer {
  const { namespace, type, id } = pointer;
  const created = lifeOf(pointer);
  return created === undefined ? { namespace, type, id } : { namespace, type, id, created };
}

/** `pointer` as the address of the life that began at `created`; of no certain one when that is undefined. */
export const withLife = ({ namespace, type, id }: Pointer, created: string | undefined): LifePointer =>
  created === undefined ? { namespace, type, id } : { namespace, type, id, created };

/**
 * False when `pointer` names another life than `current`, which is at its address.
 *
 * @throws {StateError} `invalid` when what it names is no time.
 */
export function isSameLife(pointer: Pointer, current: Metadata): boolean {
  if ((pointer as Partial<Metadata>).created === current.created) return true;
  const created = lifeOf(pointer);
  return created === undefined || lifeOf(current) === undefined || compareTimes(created, current.created) === 0;
}

/** @throws {StateError} `version_conflict` when `pointer` names another life than `current`, which is at its address. */
export function assertSameLife(pointer: Pointer, current: Metadata): void {
  if (isSameLife(pointer, current)) return;
  const meant = lifeOf(pointer) ?? "";
  throw new StateError(
    "version_conflict",
    `${formatReference(current)} is another resource than the one that is meant: it was created at ${current.created}, that one at ${meant}`,
    { pointer: current },
  );
}
