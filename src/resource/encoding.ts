/**
 * What was made of a resource for a wire or a disk. Bytes are texts with one character for each: they cannot be changed,
 * and take no memory of their own kind.
 */
export interface Encoding {
  /** Tells apart the forms in which a resource may be encoded. */
  readonly form: string;
  /** The spec alone: the same for all versions that differ only in metadata. */
  readonly spec: string;
  /** The whole resource, once that was made. */
  readonly whole: string | undefined;
}
