/** The spec of `PathResource`: nothing. The path is the id. */
export type PathSpec = Record<string, never>;

/** The spec of `Int`. */
export interface IntSpec {
  /** A whole number, exact: within ±(2^53 − 1). */
  value: number;
}

/** The spec of `Str` and `Sentence`. */
export interface TextSpec {
  value: string;
}
