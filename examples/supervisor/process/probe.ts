import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";

import { LastOutput } from "./last-output.ts";
import { launch, type CommandContext } from "./launch.ts";
import { findStartProblem } from "./start-problem.ts";
import { signalProcess } from "./stop-processes.ts";

/** The question could not be asked, so there is no answer: that says nothing about the service. */
export class ProbeNotRunError extends Error {
  override readonly name: string = "ProbeNotRunError";
}

/** What the system lacks, not the service: open files, processes, memory, addresses, a resolver. */
const LACKING = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "EADDRNOTAVAIL", "EAI_AGAIN", "E2BIG"]);

/** For `catch`: tells what kept a question from being asked from a bad answer. */
function notRun(error: Error): never {
  throw LACKING.has((error as NodeJS.ErrnoException).code ?? "") ? new ProbeNotRunError(error.message) : error;
}

/** A GET must answer with 200 to 399. Redirects are not followed. @throws {Error} that says what came instead. */
export async function probeHttp(url: string, signal: AbortSignal): Promise<void> {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== "http:" && protocol !== "https:") throw new ProbeNotRunError(`${url} is not an http or https URL`);
  const request = (protocol === "https:" ? httpsRequest : httpRequest)(url, { agent: false, signal });
  request.end();
  const [response] = (await once(request, "response").catch(notRun)) as [IncomingMessage];
  // Only the head counts.
  response.destroy();
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 399) throw new Error(`${url} answered with status ${statusCode}`);
}

/** `host:port` must accept a connection. @throws {Error} when it does not. */
export async function probeTcp(address: string, signal: AbortSignal): Promise<void> {
  const [, host, port] = /^(?:\[?([^\]]*?)\]?:)?(\d+)$/.exec(address) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new ProbeNotRunError(`${JSON.stringify(address)} must be host:port`);
  const socket = connect({ host: host || "127.0.0.1", port: Number(port) });
  try {
    await once(socket, "connect", { signal }).catch(notRun);
  } finally {
    socket.destroy();
  }
}

/** A program must exit with 0. Its process group is killed with the signal. @throws {Error} with its last output. */
export async function probeCommand(
  command: readonly string[],
  context: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const problem = await findStartProblem(command, context.cwd, context.env["PATH"] ?? process.env["PATH"]);
  if (problem !== undefined) throw new ProbeNotRunError(problem);
  const { child, pid, exited, release } = await launch(command, context).catch(notRun);
  const output = new LastOutput();
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => output.add(chunk));
  const onAbort = () => signalProcess(-pid, "SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    release();
    const { code, signal: by } = await exited;
    signal.throwIfAborted();
    if (code === 0) return;
    const how = by === undefined ? `exited with code ${code}` : `ended by ${by}`;
    throw new Error([how, output.line].filter(Boolean).join(": "));
  } finally {
    signal.removeEventListener("abort", onAbort);
    for (const stream of child.stdio) stream?.destroy();
  }
}
