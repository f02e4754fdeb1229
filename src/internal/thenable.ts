/** True for a promise, or anything that can be awaited as one. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Calls `fn` and hands on what it gives: at once, unless that is a promise. Exactly one of the two is called. */
export function settle<T>(
  fn: () => T | PromiseLike<T>,
  onValue: (value: T) => void,
  onError: (error: unknown) => void,
): void {
  let result: T | PromiseLike<T>;
  try {
    result = fn();
  } catch (error) {
    onError(error);
    return;
  }
  if (isThenable(result)) Promise.resolve(result).then(onValue, onError);
  else onValue(result);
}
