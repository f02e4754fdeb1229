import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  connect,
  server,
  type ConnectOptions,
  type StateServer,
  type StateServerOptions,
} from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import type { HistoryOptions } from "../../src/store/index.ts";
import type { State } from "../../src/state/index.ts";
import { Int, PathResource, Sentence, Str } from "../../src/testing/index.ts";
import { FaultProxy } from "./fault-proxy.ts";

const types = [Int, PathResource, Sentence, Str];

export interface WorldOptions {
  readonly history?: HistoryOptions | undefined;
  readonly server?: StateServerOptions | undefined;
}

/** A State in memory, a server of it that can be stopped and started again, a path with faults, and clients. */
export class RemoteWorld implements AsyncDisposable {
  /** The State that is served. */
  readonly local: MemoryState;
  readonly proxy: FaultProxy;
  readonly #folder: string;
  readonly #options: WorldOptions;
  readonly #clients: State[] = [];
  #server: StateServer | undefined;

  private constructor(folder: string, proxy: FaultProxy, options: WorldOptions) {
    this.#folder = folder;
    this.#options = options;
    this.proxy = proxy;
    this.local = new MemoryState({ types, history: options.history });
  }

  static async open(options: WorldOptions = {}): Promise<RemoteWorld> {
    const folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    const proxy = await FaultProxy.open(join(folder, "proxy"), join(folder, "server"));
    const world = new RemoteWorld(folder, proxy, options);
    await world.start();
    return world;
  }

  get server(): StateServer {
    if (this.#server === undefined) throw new Error("the server is stopped");
    return this.#server;
  }

  /** Where the server itself listens. */
  get address(): string {
    return `unix:${join(this.#folder, "server")}`;
  }

  async start(): Promise<void> {
    this.#server = server(this.local, { types, ...this.#options.server });
    await this.#server.listen(this.address);
  }

  /** Stops the server at once. The State lives on. */
  async stop(): Promise<void> {
    const stopped = this.#server;
    this.#server = undefined;
    await stopped?.close({ graceMs: 0 });
  }

  /** Connects to the server, directly or by the path with faults. Watches that break are soon opened again. */
  connect(options: ConnectOptions & { readonly direct?: boolean } = {}): State {
    const { direct = false, ...rest } = options;
    const endpoint = direct ? this.address : `unix:${join(this.#folder, "proxy")}`;
    const client = connect(endpoint, { types, watchRetry: { initialMs: 10, maxMs: 50 }, ...rest });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
    await this.stop();
    await this.proxy[Symbol.asyncDispose]();
    await this.local[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Calls until the client has a session, as it opens one behind its first call. */
async function untilSession(serving: StateServer, state: State): Promise<void> {
  while (serving.sessionCount === 0) await state.getOrNull(Int, "there is none");
  // One more response has come since, so the client knows.
  await state.getOrNull(Int, "there is none");
}

/** A State behind a server and a connection, which end with it. */
export async function openRemoteState(session = true): Promise<State> {
  const world = await RemoteWorld.open();
  const state = connect(world.address, { types, session });
  if (session) await untilSession(world.server, state);
  const dispose = state[Symbol.asyncDispose].bind(state);
  state[Symbol.asyncDispose] = async () => {
    await dispose();
    await world[Symbol.asyncDispose]();
  };
  return state;
}
