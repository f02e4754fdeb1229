import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLogger } from "../src/log/index.ts";
import { connect, server } from "../src/grpc/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import type { State } from "../src/state/index.ts";
import { eventually, Int, intToStrController, Sentence, Str, strToSentenceController } from "../src/testing/index.ts";
import { GoServerProgram, hasGo } from "./go-program.ts";

const types = [Int, Str, Sentence];
const IDS = Array.from({ length: 25 }, (_, i) => `n${i}`);

/** Each chain goes through both engines, one in either direction. */
const FROM_GO = { ints: Int.in("go-ints"), strs: Str.in("go-strs"), sentences: Sentence.in("our-sentences") };
const FROM_US = { ints: Int.in("our-ints"), strs: Str.in("our-strs"), sentences: Sentence.in("go-sentences") };
const CHAINS = [FROM_GO, FROM_US];

describe.skipIf(!hasGo)("a Go engine and ours on one State", () => {
  let folder: string;
  let program: GoServerProgram;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "homeostat-"));
    program = await GoServerProgram.build();
    const cwd = join(import.meta.dirname, "cosi");
    await promisify(execFile)("go", ["build", "-o", join(folder, "engine"), "./engine"], { cwd });
  }, 120_000);
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  /** Go's engine on the State at `socket`; it must end well when it is told to. */
  function startGoEngine(socket: string): AsyncDisposable {
    const pairs = [
      `${FROM_GO.ints.namespace}:${FROM_GO.strs.namespace}`,
      `${FROM_US.strs.namespace}:${FROM_US.sentences.namespace}`,
    ];
    const args = ["-socket", socket, "-ints-to-strs", pairs[0] ?? "", "-strs-to-sentences", pairs[1] ?? ""];
    const child = spawn(join(folder, "engine"), args, { stdio: ["ignore", "inherit", "inherit"] });
    const exited = once(child, "exit");
    return {
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        expect(await exited).toEqual([0, null]);
      },
    };
  }

  async function runOurEngine(state: State): Promise<AsyncDisposable> {
    const runtime = new Runtime(state, { logger: silentLogger });
    await runtime.register(intToStrController(FROM_US.ints.namespace, FROM_US.strs.namespace));
    await runtime.register(strToSentenceController(FROM_GO.strs.namespace, FROM_GO.sentences.namespace));
    const stop = new AbortController();
    const running = runtime.run({ signal: stop.signal });
    return {
      async [Symbol.asyncDispose]() {
        stop.abort();
        await running;
      },
    };
  }

  async function expectSentences(state: State, text: (i: number) => string): Promise<void> {
    for (const { sentences } of CHAINS) {
      await eventually(
        async () => {
          const found = await state.list(sentences);
          const values = new Map(found.map(({ metadata, spec }) => [metadata.id, spec.value]));
          expect(values).toEqual(new Map(IDS.map((id, i) => [id, text(i)])));
        },
        { timeoutMs: 20_000 },
      );
    }
  }

  /** Creates, changes and ends the inputs of both chains, and sees that everything follows. */
  async function expectChainsToWork(socket: string): Promise<void> {
    await using state = connect(`unix:${socket}`, { types });
    await using ours = await runOurEngine(state);
    await using theirs = startGoEngine(socket);
    expect([ours, theirs]).toHaveLength(2);
    for (const { ints } of CHAINS) {
      await Promise.all(IDS.map((id, i) => state.create(ints.create(id, { value: i }))));
    }
    await expectSentences(state, (i) => `${i} sentence`);
    for (const { ints } of CHAINS) {
      await Promise.all(IDS.map((id, i) => state.modify(ints, id, () => ({ value: 100 + i }))));
    }
    await expectSentences(state, (i) => `${100 + i} sentence`);

    // What an engine made is held by the other one, so each end waits for both.
    const ends = CHAINS.flatMap(({ ints }) => IDS.map((id) => state.teardownAndDestroy(ints.ref(id))));
    await Promise.all(ends);
    for (const { ints, strs, sentences } of CHAINS) {
      for (const type of [ints, strs, sentences]) expect(await state.list(type)).toHaveLength(0);
    }
  }

  test("of ours: they feed each other, and what goes takes along what came of it", async () => {
    const local = new MemoryState({ types });
    await using serving = server(local, { types });
    const socket = program.newPath();
    await serving.listen(`unix:${socket}`);
    await expectChainsToWork(socket);
    await serving.close();
    await local[Symbol.asyncDispose]();
  }, 60_000);

  test("of Go's: likewise", async () => {
    await using served = await program.start();
    await expectChainsToWork(served.path);
  }, 60_000);
});
