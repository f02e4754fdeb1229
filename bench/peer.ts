import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Measurement } from "./report.ts";

const run = promisify(execFile);
const MODULE = join(import.meta.dirname, "..", "interop", "cosi");

/** The Go program that does the same work on the Go implementation. */
export interface Peer extends AsyncDisposable {
  measure(n: number): Promise<Measurement[]>;
}

/** Builds the Go program, or gives the reason why it is not there: no toolchain, or no way to its modules. */
export async function openPeer(): Promise<Peer | { readonly reason: string }> {
  const folder = await mkdtemp(join(tmpdir(), "homeostat-bench-"));
  const program = join(folder, "bench");
  try {
    await run("go", ["build", "-o", program, "./bench"], { cwd: MODULE });
  } catch (error) {
    await rm(folder, { recursive: true });
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    return {
      reason:
        code === "ENOENT"
          ? "there is no Go toolchain"
          : `the Go program does not build: ${stderr.trim().split("\n").at(-1)}`,
    };
  }
  return {
    async measure(n) {
      const { stdout } = await run(program, ["-n", String(n)], { maxBuffer: 2 ** 20 });
      return parseMeasurements(stdout);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Reads one JSON object a line. */
export function parseMeasurements(text: string): Measurement[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Measurement);
}
