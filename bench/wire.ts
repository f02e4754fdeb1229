import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { parseMeasurements } from "./peer.ts";
import type { Measurement, Report } from "./report.ts";

const run = promisify(execFile);
const GO_MODULE = join(import.meta.dirname, "..", "interop", "cosi");

/** The four pairs of a client and a server: whose code is measured gives the name, `go` stands beside them all. */
const SIDES = ["server", "client", "both"] as const;
type Side = (typeof SIDES)[number] | "go";

/** More resources only take longer. */
const MOST_RESOURCES = 20_000;
/** Enough for a server to become as fast as it gets. */
const WARM_UP_RESOURCES = 3_000;

/**
 * A State served on a unix socket, in a process of its own, and a client in another: both ours, each with the Go
 * implementation's on the other side, and Go's on both. The work is that of the Go program's -socket mode, and so are
 * the names, behind `wire.server.`, `wire.client.`, `wire.both.` and `wire.go.`.
 */
export async function benchWire(report: Report, n: number): Promise<void> {
  const count = Math.min(n, MOST_RESOURCES);
  const folder = await mkdtemp(join(tmpdir(), "homeostat-bench-"));
  const go = await buildGo(folder);
  const servers: Server[] = [];
  try {
    const ours = await Server.start([...node("wire-server.ts")], join(folder, "ours.sock"));
    servers.push(ours);
    await measureWith([...node("wire-client.ts")], ours, WARM_UP_RESOURCES, "warm-up-");
    if (go !== undefined) {
      const theirs = await Server.start([go.server], join(folder, "go.sock"));
      servers.push(theirs);
      tell(report, "go", await measureGo(go.client, theirs, count, "a-"));
      tell(report, "server", await measureGo(go.client, ours, count, "b-"));
      tell(report, "client", await measureWith(node("wire-client.ts"), theirs, count, "c-"));
    }
    tell(report, "both", await measureWith(node("wire-client.ts"), ours, count, "d-"));
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Splits what {@link benchWire} reports: Go's own figures, once for each side that they stand beside, are the peer's. */
export function splitWire(measurements: readonly Measurement[]): { ours: Measurement[]; theirs: Measurement[] } {
  const prefix = "wire.go.";
  const isGo = ({ name }: Measurement): boolean => name.startsWith(prefix);
  const theirs = measurements
    .filter(isGo)
    .flatMap((one) => SIDES.map((side) => ({ ...one, name: `wire.${side}.${one.name.slice(prefix.length)}` })));
  return { ours: measurements.filter((one) => !isGo(one)), theirs };
}

function tell(report: Report, side: Side, measurements: readonly Measurement[]): void {
  for (const one of measurements) report({ ...one, name: `wire.${side}.${one.name}` });
}

const node = (file: string): readonly string[] => [
  process.execPath,
  ...process.execArgv,
  join(import.meta.dirname, file),
];

async function buildGo(folder: string): Promise<{ readonly server: string; readonly client: string } | undefined> {
  const [server, client] = [join(folder, "go-server"), join(folder, "go-client")];
  try {
    await run("go", ["build", "-o", server, "./server"], { cwd: GO_MODULE });
    await run("go", ["build", "-o", client, "./bench"], { cwd: GO_MODULE });
    return { server, client };
  } catch (error) {
    process.stderr.write(
      `the wire is measured without Go: ${String((error as { stderr?: unknown }).stderr ?? error)}\n`,
    );
    return undefined;
  }
}

async function measureGo(client: string, server: Server, n: number, prefix: string): Promise<Measurement[]> {
  const { stdout } = await run(client, ["-socket", server.path, "-n", String(n), "-prefix", prefix]);
  return parseMeasurements(stdout);
}

async function measureWith(
  [program = "", ...args]: readonly string[],
  server: Server,
  n: number,
  prefix: string,
): Promise<Measurement[]> {
  const { stdout } = await run(program, [...args, server.path, String(n), prefix]);
  return parseMeasurements(stdout);
}

/** A server in a process of its own. */
class Server {
  readonly path: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor([program = "", ...args]: readonly string[], path: string) {
    this.path = path;
    this.#child = spawn(program, [...args, path], { stdio: ["ignore", "ignore", "inherit"] });
    this.#exited = once(this.#child, "exit");
  }

  static async start(command: readonly string[], path: string): Promise<Server> {
    const server = new Server(command, path);
    while (!(await canConnect(path))) {
      if (server.#child.exitCode !== null) throw new Error(`the server at ${path} ended`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return server;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await this.#exited;
  }
}

function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
