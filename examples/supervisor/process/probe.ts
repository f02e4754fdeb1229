import { spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";

import { LastWords } from "./last-words.ts";
import { signalGroup } from "./signal.ts";

/** What a command is run with. */
export interface CommandSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A GET must answer with 200 to 399. Redirects are not followed. @throws {Error} that says what came instead. */
export async function probeHttp(url: string, signal: AbortSignal): Promise<void> {
  const { protocol } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw new Error(`${url} is no http or https URL`);
  const request = (protocol === "https:" ? httpsRequest : httpRequest)(url, { agent: false, signal });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  // Only the head counts.
  response.destroy();
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 399) throw new Error(`${url} answered with status ${statusCode}`);
}

/** `host:port` must accept a connection. @throws {Error} when it does not. */
export async function probeTcp(address: string, signal: AbortSignal): Promise<void> {
  const [, host, port] = /^(?:\[?([^\]]*?)\]?:)?(\d+)$/.exec(address) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new Error(`${JSON.stringify(address)} must be host:port`);
  const socket = connect({ host: host || "127.0.0.1", port: Number(port) });
  try {
    await once(socket, "connect", { signal });
  } finally {
    socket.destroy();
  }
}

/** A program must exit with 0. Its process group is killed with the signal. @throws {Error} with its last words. */
export async function probeCommand(
  command: readonly string[],
  { cwd, env }: CommandSurroundings,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const words = new LastWords();
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => words.add(chunk));
  const onAbort = () => child.pid !== undefined && signalGroup(child.pid, "SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const [code, by] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    if (code === 0) return;
    throw new Error(
      [by === null ? `exited with code ${code}` : `ended by ${by}`, words.line].filter(Boolean).join(": "),
    );
  } finally {
    signal.removeEventListener("abort", onAbort);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
