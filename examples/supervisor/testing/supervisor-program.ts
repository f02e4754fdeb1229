import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { DEADLINE_MS } from "./supervisor-world.ts";

const MAIN = join(import.meta.dirname, "..", "main.ts");

/** The supervisor as a program of its own. Disposing kills it, if it still runs. */
export class SupervisorProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | NodeJS.Signals>;
  #output = "";
  #onOutput: () => void = () => {};

  /** @param args - What follows `main.ts` on the command line. The state is served nowhere unless they say where. */
  constructor(...args: readonly string[]) {
    const listen = args.includes("--listen") ? [] : ["--listen", "none"];
    this.#child = spawn(process.execPath, ["--conditions=source", MAIN, ...args, ...listen], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#onOutput();
      });
    }
    this.#ended = once(this.#child, "close").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  }

  /** Everything that it has written. */
  get output(): string {
    return this.#output;
  }

  /** Resolves to the first part of the output that matches. @throws {Error} with all output, after the deadline. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const match = pattern.exec(this.#output);
      if (match !== null) resolve(match);
    };
    const late = setTimeout(() => reject(new Error(`it does not say ${pattern}, but:\n${this.#output}`)), DEADLINE_MS);
    this.#onOutput = look;
    void this.#ended.then(() => {
      look();
      reject(new Error(`it ended without saying ${pattern}, but:\n${this.#output}`));
    });
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(late);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves to the exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals> {
    const late = setTimeout(() => this.kill("SIGKILL"), DEADLINE_MS);
    try {
      return await this.#ended;
    } finally {
      clearTimeout(late);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    await this.#ended;
  }
}
