interface EquivalentMutant {
  readonly file: string;
  /** The line on which the change begins, without indentation. */
  readonly line: string;
  readonly replacement: string;
  /** Why no test can tell the difference. */
  readonly reason: string;
}

/** Changes that change nothing a caller could see. They count neither as found nor as missed. */
export const EQUIVALENT: readonly EquivalentMutant[] = [];
