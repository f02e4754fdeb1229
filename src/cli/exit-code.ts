/** What the process ends with. Scripts rely on it; a code is never given another meaning. */
export const ExitCode = {
  ok: 0,
  /** Something else went wrong; also when a part of the work failed. */
  failed: 1,
  /** The command line makes no sense. */
  usage: 2,
  /** There is no such resource, or no such type. */
  notFound: 3,
  /** Somebody else changed, owns or holds the resource, or it is there already. */
  conflict: 4,
  /** The endpoint cannot be reached, or did not answer in time. */
  unavailable: 5,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
