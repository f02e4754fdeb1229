import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** Stands between a client and a server on unix sockets, and does to their connections what networks do. */
export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** What comes in either direction vanishes, and nobody is told: the other side might be there, or not. */
  swallows: boolean = false;
  /** Every piece waits for so long before it is passed on. Unit: milliseconds. */
  delayMs: number = 0;
  /** Connections are cut when this many bytes have passed from the server since the last cut. */
  cutAfterBytes: number = Infinity;
  #sinceCut = 0;
  /** Bytes that came from the server so far. */
  answeredBytes: number = 0;
  /** Connections that were made so far. */
  connectionCount: number = 0;

  private constructor(targetPath: string) {
    this.#server = createServer((client) => {
      this.connectionCount++;
      const pair = { client, upstream: connect(targetPath) };
      this.#pairs.add(pair);
      this.#join(pair, pair.client, pair.upstream, false);
      this.#join(pair, pair.upstream, pair.client, true);
    });
  }

  static async open(listenPath: string, targetPath: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPath);
    proxy.#server.listen(listenPath);
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Connections that are open. */
  get openCount(): number {
    return this.#pairs.size;
  }

  /** Breaks every connection. */
  cut(): void {
    this.#sinceCut = 0;
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  /** Sends bytes of our own to every client, in the middle of whatever the server says. */
  inject(bytes: Uint8Array): void {
    for (const { client } of this.#pairs) client.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    if (this.#server.listening) await once(this.#server, "close");
  }

  #join(pair: Pair, from: Socket, to: Socket, isAnswer: boolean): void {
    from.on("data", (bytes) => {
      if (this.swallows) return;
      if (this.delayMs > 0) setTimeout(() => to.write(bytes), this.delayMs);
      else if (!to.write(bytes)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
      if (!isAnswer) return;
      this.answeredBytes += bytes.length;
      this.#sinceCut += bytes.length;
      if (this.#sinceCut >= this.cutAfterBytes) this.cut();
    });
    // What a connection ends with is its peer's to tell.
    from.on("error", () => {});
    from.on("close", () => {
      to.destroy();
      this.#pairs.delete(pair);
    });
  }
}
