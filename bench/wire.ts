import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
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

const node = (...path: readonly string[]): readonly string[] => [
  process.execPath,
  ...process.execArgv,
  join(import.meta.dirname, ...path),
];
const CLI = node("..", "src", "cli.ts");
const CLIENT = node("wire-client.ts");

/** The four pairs of a client and a server: whose code is measured gives the name, `go` stands beside them all. */
const SIDES = ["server", "client", "both"] as const;
type Side = (typeof SIDES)[number] | "go";

/** More resources only take longer. */
const MAX_RESOURCES = 20_000;
/** The sides take turns, so that what else goes on on the machine meets them all. */
const SLICES = 3;
/** Enough for a server to become as fast as it gets. */
const WARM_UP_RESOURCES = 3_000;

/**
 * A State served on a unix socket, in a process of its own, and a client in another: both ours, each with the Go
 * implementation's on the other side, and Go's on both. The work is that of the Go program's -socket mode, and so are
 * the names, behind `wire.server.`, `wire.client.`, `wire.both.` and `wire.go.`.
 */
export async function benchWire(report: Report, n: number): Promise<void> {
  const count = Math.min(n, MAX_RESOURCES);
  const folder = await mkdtemp(join(tmpdir(), "homeostat-bench-"));
  const go = await buildGo(folder);
  const servers: Server[] = [];
  try {
    const ours = await Server.start(
      (path) => [...CLI, "serve", "--state", "memory", "--listen", `unix:${path}`],
      folder,
    );
    servers.push(ours);
    await measureWith(CLIENT, ours, WARM_UP_RESOURCES, "warm-up-");
    const theirs = go && (await Server.start((path) => [go.server, path], folder));
    if (theirs !== undefined) servers.push(theirs);
    const slices: Measurement[] = [];
    for (let slice = 0; slice < SLICES; slice++) {
      const measured = async (side: Side, command: readonly string[], server: Server): Promise<void> => {
        const measurements = await measureWith(command, server, Math.ceil(count / SLICES), `${side}-${slice}-`);
        // A client holds none of the resources.
        const told = measurements.filter(({ name }) => name !== "state.memory");
        slices.push(...told.map((one) => ({ ...one, name: `wire.${side}.${one.name}` })));
      };
      if (go !== undefined && theirs !== undefined) {
        await measured("go", go.client, theirs);
        await measured("server", go.client, ours);
        await measured("client", CLIENT, theirs);
      }
      await measured("both", CLIENT, ours);
    }
    for (const one of medians(slices)) report(one);
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

/** The measurement in the middle, of each name. */
function medians(measurements: readonly Measurement[]): readonly Measurement[] {
  const byName = Map.groupBy(measurements, ({ name }) => name);
  return [...byName.values()].flatMap((all) => {
    const sorted = all.toSorted((a, b) => (a.per_second ?? 0) - (b.per_second ?? 0));
    return sorted[sorted.length >> 1] ?? [];
  });
}

async function buildGo(
  folder: string,
): Promise<{ readonly server: string; readonly client: readonly string[] } | undefined> {
  const [server, client] = [join(folder, "go-server"), join(folder, "go-client")];
  try {
    await run("go", ["build", "-o", server, "./server"], { cwd: GO_MODULE });
    await run("go", ["build", "-o", client, "./bench"], { cwd: GO_MODULE });
    return { server, client: [client] };
  } catch (error) {
    process.stderr.write(
      `the wire is measured without Go: ${String((error as { stderr?: unknown }).stderr ?? error)}\n`,
    );
    return undefined;
  }
}

async function measureWith(
  [program = "", ...args]: readonly string[],
  server: Server,
  n: number,
  prefix: string,
): Promise<Measurement[]> {
  const options = ["-socket", server.path, "-n", String(n), "-prefix", prefix];
  const { stdout } = await run(program, [...args, ...options]);
  return parseMeasurements(stdout);
}

/** A server in a process of its own. */
class Server {
  readonly path: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor([program = "", ...args]: readonly string[], path: string) {
    this.path = path;
    this.#child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
    this.#exited = once(this.#child, "exit");
  }

  /** @param command - The command that serves an empty State at a path. */
  static async start(command: (path: string) => readonly string[], folder: string): Promise<Server> {
    const path = join(folder, `${randomUUID()}.sock`);
    const server = new Server(command(path), path);
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
