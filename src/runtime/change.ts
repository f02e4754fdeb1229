import type { Metadata } from "../resource/index.ts";
import type { Cause } from "./causes/cause.ts";

/** A change of one resource: whatever happened to it since the last delivery. */
export interface Change {
  /** What it is now; the last that it was, if it is gone. */
  readonly metadata: Metadata;
  /** The change passes every filter: what happened in between is not known. */
  readonly certain: boolean;
  /** What it was before and in between, as far as mappers can tell it from what it is now. */
  readonly before: readonly Metadata[];
  /** Not all of {@link before} was kept. */
  readonly isBeforeCut: boolean;
  /** Who made it. Absent where no controller writes what it depends on itself. */
  readonly cause: Cause | undefined;
}
