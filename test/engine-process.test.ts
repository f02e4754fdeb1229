import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** A whole program: it holds nothing but a runtime, which is idle. */
const PROGRAM = `
  import { MemoryState, Runtime, silentLogger } from "homeostat";
  const stopper = new AbortController();
  process.once("SIGTERM", () => stopper.abort());
  const runtime = new Runtime(new MemoryState(), { logger: silentLogger });
  const running = runtime.run({ signal: stopper.signal });
  console.log("running");
  await running;
  console.log("stopped");
`;

test("a running engine keeps its process alive, and a stopped one lets it end", async () => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "--eval", PROGRAM], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const exited = once(child, "exit");
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    // An engine that held nothing would have ended the process, with code 13, before this is over.
    if (output === "running\n") setTimeout(() => child.kill("SIGTERM"), 300);
  });
  const [code, signal] = (await exited) as [number | null, string | null];
  expect({ code, signal, output, errors }).toEqual({ code: 0, signal: null, output: "running\nstopped\n", errors: "" });
});
