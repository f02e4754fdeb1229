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
import { defineResource, shape } from "../../src/resource/index.ts";
import type { CoreState, State } from "../../src/state/index.ts";
import { RawSession } from "./raw-session.ts";

export const Int = defineResource({
  type: "Ints.session.example.dev",
  spec: shape({ value: "integer", "pad?": "string" }),
});

/** A served State, clients that have a session, and sessions spoken by hand. */
export class SessionWorld implements AsyncDisposable {
  readonly local: MemoryState;
  readonly serving: StateServer;
  readonly address: string;
  readonly #folder: string;
  readonly #owned: AsyncDisposable[] = [];

  private constructor(local: MemoryState, serving: StateServer, folder: string) {
    this.local = local;
    this.serving = serving;
    this.#folder = folder;
    this.address = `unix:${join(folder, "socket")}`;
  }

  /** @param around - Gives the State that is served, from the one that keeps the contents. */
  static async open(
    options: StateServerOptions = {},
    around: (local: MemoryState) => CoreState = (local) => local,
  ): Promise<SessionWorld> {
    const folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    const local = new MemoryState({ types: [Int] });
    const world = new SessionWorld(local, server(around(local), { types: [Int], ...options }), folder);
    await world.serving.listen(world.address);
    return world;
  }

  connect(options: ConnectOptions = {}): State {
    const state = connect(this.address, { types: [Int], ...options });
    this.#owned.push(state);
    return state;
  }

  /** A client whose next call is on its session. */
  async connectWithSession(options: ConnectOptions = {}): Promise<State> {
    const state = this.connect(options);
    const before = this.serving.sessionCount;
    while (this.serving.sessionCount === before) await state.getOrNull(Int, "there is none");
    await state.getOrNull(Int, "there is none");
    return state;
  }

  async raw(): Promise<RawSession> {
    const session = await RawSession.open(this.address);
    this.#owned.push(session);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#owned) await one[Symbol.asyncDispose]();
    await this.serving.close({ graceMs: 0 });
    await this.local[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
