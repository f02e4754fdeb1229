import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

import type { Clock } from "homeostat";

import type { ServiceSpec } from "../resources/index.ts";

/** The few methods of a file that a log needs. */
export interface LogTarget {
  stat(): Promise<{ readonly size: number }>;
  /** Fewer bytes may be written than there are. */
  write(chunk: Uint8Array): Promise<{ readonly bytesWritten: number }>;
  close(): Promise<void>;
}

export interface LogFileOptions {
  readonly clock: Clock;
  /** Called when {@link LogFile.error} changes. */
  readonly onError: () => void;
  /** How a file is opened. Default: the real one, for appending. */
  readonly openTarget?: ((path: string) => Promise<LogTarget>) | undefined;
}

/** After a failure, output is dropped for this long before the file is tried again. Unit: milliseconds. */
const RETRY_MS = 1_000;

/**
 * Keeps the output of a service: appends to a file, which becomes `….1` when it is full, `….1` becomes `….2`, and so on.
 *
 * It never fails: what cannot be written is counted and dropped, {@link error} says why, and the file is tried again
 * from time to time. When that works, the gap is noted in the log.
 */
export class LogFile implements AsyncDisposable {
  readonly path: string;
  readonly #limits: ServiceSpec["log"];
  readonly #options: LogFileOptions;
  #target: LogTarget | undefined;
  #bytes = 0;
  #error: string | undefined;
  #lostBytes = 0;
  #retryAtMs = 0;
  /** Writes happen one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(path: string, limits: ServiceSpec["log"], options: LogFileOptions) {
    this.path = path;
    this.#limits = limits;
    this.#options = options;
  }

  /** Why output is being lost at present; undefined when it is kept. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Resolves when the chunk is written or dropped: wait for it before the next, so that output cannot pile up. */
  write(chunk: Uint8Array): Promise<void> {
    this.#last = this.#last.then(() => this.#keep(chunk));
    return this.#last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#close();
  }

  async #keep(chunk: Uint8Array): Promise<void> {
    if (this.#error !== undefined && this.#options.clock.monotonic() < this.#retryAtMs) {
      this.#lostBytes += chunk.byteLength;
      return;
    }
    let rest = chunk;
    try {
      if (this.#lostBytes > 0)
        await this.#append(Buffer.from(`[supervisor: ${this.#lostBytes} bytes of output were lost: ${this.#error}]\n`));
      this.#lostBytes = 0;
      while (rest.byteLength > 0) rest = rest.subarray(await this.#append(rest));
      this.#setError(undefined);
    } catch (error) {
      this.#lostBytes += rest.byteLength;
      this.#retryAtMs = this.#options.clock.monotonic() + RETRY_MS;
      await this.#close();
      this.#setError((error as Error).message);
    }
  }

  /** Writes as much as fits and resolves to its length. */
  async #append(chunk: Uint8Array): Promise<number> {
    const { maxBytes } = this.#limits;
    let target = await this.#open();
    if (this.#bytes > 0 && this.#bytes + chunk.byteLength > maxBytes) {
      await this.#rotate();
      target = await this.#open();
    }
    const { bytesWritten } = await target.write(chunk.subarray(0, Math.max(1, maxBytes - this.#bytes)));
    if (bytesWritten === 0) throw new Error("the file takes no more bytes");
    this.#bytes += bytesWritten;
    return bytesWritten;
  }

  async #open(): Promise<LogTarget> {
    if (this.#target === undefined) {
      this.#target = await (this.#options.openTarget ?? openForAppending)(this.path);
      this.#bytes = (await this.#target.stat()).size;
    }
    return this.#target;
  }

  async #rotate(): Promise<void> {
    await this.#close();
    const { maxFiles } = this.#limits;
    if (maxFiles === 0) return rm(this.path, { force: true });
    for (let n = maxFiles - 1; n >= 0; n--) {
      const from = n === 0 ? this.path : `${this.path}.${n}`;
      await rename(from, `${this.path}.${n + 1}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
    }
  }

  async #close(): Promise<void> {
    const target = this.#target;
    this.#target = undefined;
    // A file system that is full may say so only now; the bytes were counted as written, and nothing more can be done.
    await target?.close().catch((error: Error) => this.#setError(error.message));
  }

  #setError(error: string | undefined): void {
    if (error === this.#error) return;
    this.#error = error;
    this.#options.onError();
  }
}

function openForAppending(path: string): Promise<LogTarget> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  // Opening a FIFO without a reader would block for ever.
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o644);
}
