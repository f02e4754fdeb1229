import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A round that takes longer than this has stopped: a few seconds are usual. Unit: milliseconds. */
const STOPPED_AFTER_MS = 60_000;

const NODE = [process.execPath, "--conditions=source", "--disable-warning=ExperimentalWarning"] as const;

export interface LoadOptions {
  readonly transport: "unix" | "tcp";
  readonly seed: number;
  readonly rounds: number;
  /** Part of the usual number of calls in a round. Default: 1. */
  readonly scale?: number | undefined;
  /** Program of the server, which takes an address and prints the one it listens at. Default: ours. */
  readonly server?: string | undefined;
  /** Program of the client; see `client.ts`. Default: ours. */
  readonly client?: string | undefined;
}

/**
 * Runs the two-way load between two processes.
 *
 * @returns the number of rounds that ended; fewer than asked for when one stopped.
 * @throws {Error} when the client failed.
 */
export async function runLoad(options: LoadOptions): Promise<number> {
  const { transport, seed, rounds, scale = 1 } = options;
  const folder = await mkdtemp(join(tmpdir(), "homeostat-load-"));
  const endpoint = transport === "unix" ? `unix:${join(folder, "s")}` : "tcp:127.0.0.1:0";
  const server = start(options.server ?? join(import.meta.dirname, "server.ts"), [endpoint]);
  let client: ChildProcess | undefined;
  try {
    const address = await firstLine(server);
    client = start(options.client ?? join(import.meta.dirname, "client.ts"), [
      address,
      ...[seed, rounds, scale].map(String),
    ]);
    return await countRounds(client);
  } finally {
    for (const child of [client, server]) if (child !== undefined) await stop(child);
    await rm(folder, { recursive: true, force: true });
  }
}

function start(program: string, args: readonly string[]): ChildProcess {
  const [node, ...flags] = NODE;
  return spawn(node, [...flags, program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function firstLine(child: ChildProcess): Promise<string> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the server of the load ended with code ${String(code)}`);
  });
  const line = once(linesOf(child), "line").then(([text]) => String(text));
  return Promise.race([line, ended]);
}

/** Each line of the client is a round that ended. */
async function countRounds(client: ChildProcess): Promise<number> {
  let count = 0;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let timer = setTimeout(() => resolve(count), STOPPED_AFTER_MS);
  linesOf(client).on("line", () => {
    count += 1;
    clearTimeout(timer);
    timer = setTimeout(() => resolve(count), STOPPED_AFTER_MS);
  });
  client.once("close", (code) => {
    if (code === 0) resolve(count);
    else reject(new Error(`the client of the load ended with code ${code} after ${count} rounds`));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

function linesOf({ stdout }: ChildProcess): ReturnType<typeof createInterface> {
  if (stdout === null) throw new Error("the process has no output");
  return createInterface({ input: stdout });
}
