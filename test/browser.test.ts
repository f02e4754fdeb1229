// The core in an environment that has what browsers have, and nothing else of Node.
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { build, type Plugin } from "vite";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** What the platform of the web adds to the language, as far as the core uses it. */
const WEB_GLOBALS = [
  "AbortController",
  "AbortSignal",
  "DOMException",
  "Event",
  "EventTarget",
  "MessageChannel",
  "TextDecoder",
  "TextEncoder",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "performance",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
];

/** Vite would put an empty module in place of a built-in one. */
const refuseBuiltins: Plugin = {
  name: "refuse-builtins",
  enforce: "pre",
  resolveId(source, importer) {
    if (source.startsWith("node:")) throw new Error(`${importer} imports ${source}, which no browser has`);
    return null;
  },
};

async function bundle(entry: string): Promise<string> {
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    plugins: [refuseBuiltins],
    resolve: { conditions: ["source", "browser", "import", "module", "default"] },
    build: {
      write: false,
      minify: false,
      target: "es2024",
      lib: { entry: join(ROOT, entry), formats: ["iife"], name: "bundle" },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !("output" in output)) throw new Error("nothing was built");
  expect(output.output).toHaveLength(1);
  return output.output[0].code;
}

/** Deletes all that browsers lack, in a thread of its own, then runs the code. */
const BARE_THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
// Node loads its class of message events when it is first used, and needs its own globals for that.
void globalThis.MessageEvent;
const kept = new Set(workerData.kept);
for (const name of Object.getOwnPropertyNames(globalThis)) if (!kept.has(name)) delete globalThis[name];
const left = Object.getOwnPropertyNames(globalThis).filter((name) => !kept.has(name));
(0, eval)(workerData.code);
globalThis.outcome.then(
  (outcome) => parentPort.postMessage({ left, outcome }),
  (error) => parentPort.postMessage({ left, error: String(error?.stack) }),
);
`;

test("a control plane runs where there is nothing of Node", async () => {
  const code = await bundle("test/fixtures/browser-plane.ts");
  const language = runInContext("Object.getOwnPropertyNames(globalThis)", createContext({})) as string[];
  const worker = new Worker(BARE_THREAD, {
    eval: true,
    workerData: { code, kept: [...language, ...WEB_GLOBALS, "globalThis"] },
  });
  try {
    const message = await new Promise<unknown>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    expect(message).toEqual({
      left: [],
      outcome: { sum: { value: 42 }, matching: ["two"], mirrored: ["one", "two"], writers: ["Adder"] },
    });
  } finally {
    await worker.terminate();
  }
});
