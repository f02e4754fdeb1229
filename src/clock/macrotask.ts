/**
 * Calls `fn` in a later macrotask of the real event loop, whatever a clock says: by `setImmediate`, or, as browsers have
 * none, by a message to itself.
 */
export function macrotask(fn: () => void): void {
  if (typeof setImmediate === "function") setImmediate(fn);
  else postTask(fn);
}

function postTask(fn: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    port1.close();
    fn();
  });
  port1.start();
  port2.postMessage(undefined);
}
