import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryNamespace, MemoryState, type BackingStore } from "../../../memory/index.ts";
import { createResource, type Pointer, type Resource } from "../../../resource/index.ts";
import { AccessFilter, wrapState } from "../../../state/index.ts";
import { InterceptedState } from "../../faults/intercepted-state.ts";
import { JsonBackingStore } from "../../faults/json-backing-store.ts";
import { stateConformance, STATE_SCENARIOS } from "./state-conformance.ts";
import type { TestContext } from "../test-api.ts";

const namespaces = ["default", "controller", "system", "runtime"];

describe("an in-memory namespace alone [state 62]", () => {
  stateConformance({ test }, { newState: () => new MemoryNamespace("default") });
});

describe("an in-memory namespace with a history of 8 to 1024, gap 2 [state 63]", () => {
  const history = { initialCapacity: 8, maxCapacity: 1024, gap: 2 };
  stateConformance({ test }, { newState: () => new MemoryNamespace("default", { history }) });
});

describe("an in-memory namespace with a history of 4 to 32, gap 1 [state 64]", () => {
  const history = { initialCapacity: 4, maxCapacity: 32, gap: 1 };
  stateConformance({ test }, { newState: () => new MemoryNamespace("default", { history }) });
});

describe("an in-memory namespace with a backing store [state 65]", () => {
  stateConformance(
    { test },
    { newState: () => new MemoryNamespace("default", { backingStore: () => new JsonBackingStore() }) },
  );
});

describe("an in-memory State with a file per resource behind it", () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "homeostat-"));
  });
  afterAll(() => rm(root, { recursive: true }));
  const newState = async () => {
    const folder = await mkdtemp(join(root, "state-"));
    return new MemoryState({ backingStore: (namespace) => new FolderStore(folder, namespace) });
  };
  stateConformance({ test }, { newState, namespaces });
});

describe("the in-memory State, which routes namespaces [state 66]", () => {
  stateConformance({ test }, { newState: () => new MemoryState(), namespaces });
});

describe("an in-memory State behind a filter that allows everything [state 67] [transport S22]", () => {
  stateConformance({ test }, { newState: () => new AccessFilter(new MemoryState(), () => undefined), namespaces });
});

describe("a State wrapped once more", () => {
  stateConformance({ test }, { newState: () => wrapState(new MemoryState()), namespaces });
});

describe("a State whose every watch is counted: none is left open", () => {
  stateConformance({ test }, { newState: () => new CountedState(new MemoryState()), namespaces });
});

/** Fails, when it is disposed, for a watch that somebody forgot. */
class CountedState extends InterceptedState {
  override async [Symbol.asyncDispose](): Promise<void> {
    const left = this.openWatches.map(({ operation, target }) => `${operation} of ${target.type}`);
    await super[Symbol.asyncDispose]();
    if (left.length > 0) throw new Error(`left open: ${left.join(", ")}`);
  }
}

/** A file per resource, named for the hash of its address: ids can be longer than names of files. */
class FolderStore implements BackingStore {
  readonly #folder: string;
  readonly #namespace: string;

  constructor(folder: string, namespace: string) {
    this.#folder = folder;
    this.#namespace = namespace;
  }

  async load(handler: (resource: Resource) => void): Promise<void> {
    for (const file of await readdir(this.#folder)) {
      const { metadata, spec } = JSON.parse(await readFile(join(this.#folder, file), "utf8")) as Resource;
      if (metadata.namespace === this.#namespace) handler(createResource(metadata, spec));
    }
  }

  async put({ metadata, spec }: Resource): Promise<void> {
    await writeFile(this.#path(metadata), JSON.stringify({ metadata, spec }));
  }

  async destroy(pointer: Pointer): Promise<void> {
    await rm(this.#path(pointer), { force: true });
  }

  #path({ namespace, type, id }: Pointer): string {
    const address = JSON.stringify([namespace, type, id]);
    return join(this.#folder, createHash("sha256").update(address).digest("hex"));
  }
}

interface Registered {
  readonly name: string;
  readonly run: (context?: TestContext) => Promise<void>;
}

/** What the suite registers with a runner that only collects. */
function collect(options: Parameters<typeof stateConformance>[1]): ReadonlyMap<string, Registered["run"]> {
  const tests = new Map<string, Registered["run"]>();
  stateConformance({ test: (name, run) => tests.set(name, run) }, options);
  return tests;
}

describe("the suite itself", () => {
  test("registers one test for each scenario, under a name of its own", () => {
    const tests = collect({ newState: () => new MemoryState() });
    expect([...tests.keys()]).toEqual(STATE_SCENARIOS);
    expect(new Set(STATE_SCENARIOS).size).toBe(STATE_SCENARIOS.length);
  });

  test("reports what it was told to skip with the reason, and does not run it", async () => {
    const [name = ""] = STATE_SCENARIOS;
    let opened = 0;
    const newState = () => {
      opened++;
      return new MemoryState();
    };
    const tests = collect({ newState, skip: { [name]: "not yet" } });
    const reasons: string[] = [];
    await tests.get(name)?.({ skip: (reason) => void reasons.push(reason) });
    expect(reasons).toEqual(["not yet"]);
    expect(opened).toBe(0);
  });

  test("refuses to skip what does not exist", () => {
    expect(() => collect({ newState: () => new MemoryState(), skip: { "no such thing": "typo" } })).toThrow(
      /no such thing/,
    );
  });

  test("gives each test a State and disposes of it, also when the test fails", async () => {
    let open = 0;
    const newState = () => {
      open++;
      const core = new MemoryNamespace("default");
      const dispose = core[Symbol.asyncDispose].bind(core);
      core[Symbol.asyncDispose] = async () => {
        open--;
        await dispose();
      };
      core.get = () => Promise.reject(new Error("broken"));
      return core;
    };
    const tests = collect({ newState });
    await expect(tests.get("[state 41] a resource keeps its labels")?.()).rejects.toThrow("broken");
    expect(open).toBe(0);
  });
});
