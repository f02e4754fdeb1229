import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const MODULE = join(import.meta.dirname, "cosi");
const run = promisify(execFile);

/** Without a Go toolchain these tests cannot run; `CI_GO=0` leaves them out. */
export const hasGo: boolean = process.env["CI_GO"] !== "0" && spawnSync("go", ["version"]).status === 0;

/** The Go implementation's server, built once, and started as often as it is needed. */
export class GoServerProgram implements AsyncDisposable {
  readonly #folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async build(): Promise<GoServerProgram> {
    const folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    try {
      await run("go", ["build", "-o", join(folder, "server"), "./server"], { cwd: MODULE });
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
    return new GoServerProgram(folder);
  }

  /** A path for a socket that nobody has used. */
  newPath(): string {
    return join(this.#folder, `${this.#count++}.sock`);
  }

  /** Starts a server with an empty State, and waits until it can be reached. */
  start(): Promise<GoServer> {
    return this.startAt(this.newPath());
  }

  async startAt(path: string): Promise<GoServer> {
    const child = spawn(join(this.#folder, "server"), [path], { stdio: ["ignore", "inherit", "inherit"] });
    const exited = once(child, "exit");
    const stop = async (): Promise<void> => {
      child.kill();
      await exited;
    };
    try {
      await reached(path, exited);
    } catch (error) {
      await stop();
      throw error;
    }
    return { path, address: `unix:${path}`, [Symbol.asyncDispose]: stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export interface GoServer extends AsyncDisposable {
  readonly path: string;
  readonly address: string;
}

async function reached(path: string, exited: Promise<unknown>): Promise<void> {
  let gone = false;
  void exited.then(() => (gone = true));
  for (let attempt = 0; attempt < 1_000 && !gone; attempt++) {
    if (await connects(path)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the Go server does not listen at ${path}`);
}

function connects(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
