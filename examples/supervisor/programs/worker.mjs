// The worker of the example: asks the server again and again, and writes down what it says.
// Usage: node worker.mjs <config file>

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [, , configPath] = process.argv;
const { host, port, pollMs } = JSON.parse(readFileSync(configPath, "utf8"));
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());

console.log(`asks http://${host}:${port}/ every ${pollMs} ms`);
while (!stop.signal.aborted) {
  try {
    const response = await fetch(`http://${host}:${port}/`, {
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(2_000)]),
    });
    console.log((await response.text()).trim());
  } catch (error) {
    if (!stop.signal.aborted) console.error(`no answer: ${error.cause?.message ?? error.message}`);
  }
  await sleep(pollMs, undefined, { signal: stop.signal }).catch(() => {});
}
console.log("stopping: the last question is answered");
process.exit(0);
