/** Something that was started and will have a result. */
export interface Future<T> {
  /** Aborts with the parent, and when the run has ended: by then {@link result} is settled. */
  readonly signal: AbortSignal;
  /** What the function returned or threw. It need not be awaited: an unhandled rejection does no harm. */
  readonly result: Promise<T>;
}

/** Options of {@link runWithSignal}. */
export interface RunWithSignalOptions {
  /** Parent of the signal that the function gets. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `fn`, at once, with a signal of its own. The holder of the {@link Future} can learn of the end through the
 * signal and ask for the result later. A failure is also the reason of the signal's abort.
 */
export function runWithSignal<T>(
  fn: (signal: AbortSignal) => Promise<T> | T,
  options: RunWithSignalOptions = {},
): Future<T> {
  const { signal: parent } = options;
  const own = new AbortController();
  const onAbort = () => own.abort(parent?.reason);
  if (parent?.aborted) onAbort();
  parent?.addEventListener("abort", onAbort, { once: true });
  const end = (reason?: unknown) => {
    parent?.removeEventListener("abort", onAbort);
    own.abort(reason);
  };
  const result = (async () => fn(own.signal))();
  result.then(
    () => end(),
    (error: unknown) => end(error),
  );
  return { signal: own.signal, result };
}
