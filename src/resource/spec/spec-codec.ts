import type { Immutable } from "./plain-data.ts";

/** How the specs of a type are written: as bytes for programs, as plain data for people. */
export interface SpecCodec<Spec = unknown> {
  /** The spec as it travels and is stored. Any bytes will do; peers that know the type must agree on them. */
  encode(spec: Immutable<Spec>): Uint8Array;
  /**
   * What the bytes say; the type's schema checks it afterwards. No bytes stand for the spec's zero value. The bytes may
   * be a view of a larger buffer: copy what is kept.
   *
   * @throws when the bytes are malformed.
   */
  decode(bytes: Uint8Array): unknown;
  /** The spec as YAML and JSON show it. Default: as it is. */
  toReadable?(spec: Immutable<Spec>): unknown;
  /** What YAML or JSON says, as a spec; the schema checks it afterwards. Default: as it is. */
  fromReadable?(value: unknown): unknown;
}
