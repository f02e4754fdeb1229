/** What the process ends with. Scripts rely on it; a code is never given another meaning. */
export const ExitCode = {
  ok: 0,
  /** Something else went wrong; also when a part of the work failed. */
  failed: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** There is no such resource, or no such type. */
  notFound: 3,
  /** The resource was changed meanwhile, is owned or held by another writer, or exists already. */
  conflict: 4,
  /** The endpoint cannot be reached, or did not answer in time. */
  unavailable: 5,
  /** What was waited for did not come in time: a condition, or the end of a resource that finalizers hold. */
  timedOut: 6,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
