import { once } from "node:events";
import { beforeEach, describe, expect, test } from "vitest";
import { EventType, StateError, type Event, type MemoryState, type State, type Watch } from "homeostat";
import { createTombstone } from "homeostat/resource";
import { Interrupted } from "../src/cli/host.ts";
import { BrokenPipe } from "../src/cli/output.ts";
import { describedState, runOn, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";

let state: MemoryState;

beforeEach(async () => {
  state = await describedState();
  await state.create(Service.create("web", { command: ["a"] }));
});

/** Runs a watch; `steps` are taken one after the other as soon as the output so far has the text that each waits for. */
async function watching(
  line: string,
  steps: readonly (readonly [until: string, step: () => unknown])[],
  host: FakeHost = {},
): Promise<Outcome> {
  const end = new AbortController();
  const queue = [...steps, ["", undefined] as const];
  let seen = { out: "", err: "" };
  const advance = (): void => {
    const [next] = queue;
    if (next === undefined || !(seen.out + seen.err).includes(next[0])) return;
    queue.shift();
    const [, step] = next;
    if (step === undefined) end.abort(new Interrupted(130, "Ctrl-C"));
    else void Promise.resolve(step()).then(advance);
  };
  return runOn(state, line.split(" "), {
    signal: end.signal,
    onOutput: (out) => {
      seen = { ...seen, out };
      advance();
    },
    onNote: (err) => {
      seen = { ...seen, err };
      advance();
    },
    ...host,
  });
}

const update = (text: string): Promise<unknown> =>
  state.modify(Service, "web", (spec) => {
    spec.command = [text];
  });

describe("watch", () => {
  test("shows the contents, then each change, until Ctrl-C", async () => {
    const { code, stdout } = await watching("watch svc", [
      ["web", () => update("b")],
      ['"b"', () => state.create(Service.create("a-long-name", { command: [] }))],
      ["a-long-name", () => state.destroy(Service.ref("web"))],
      ["-  ", () => undefined],
    ]);
    expect(code).toBe(130);
    expect(stdout).toBe(`*   NAMESPACE   TYPE      ID    VERSION   COMMAND   MEMORY
+   default     Service   web   1         ["a"]
    default     Service   web   2         ["b"]
+   default     Service   a-long-name   1         []
-   default     Service   web           2         ["b"]
`);
  });

  test("get -w is the same, in every format", async () => {
    const { stdout } = await watching("get svc -w -o json", [
      ["bootstrapped", () => update("b")],
      ["updated", () => undefined],
    ]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; spec?: unknown });
    expect(lines).toMatchObject([
      { event: "created", metadata: { id: "web" }, spec: { command: ["a"] } },
      { event: "bootstrapped" },
      { event: "updated", metadata: { version: "2" }, spec: { command: ["b"] } },
    ]);
    const yaml = await watching("get svc -w -o yaml", [["bootstrapped", () => undefined]]);
    expect(yaml.stdout).toMatch(/^event: created\nmetadata:\n[^]*\n---\nevent: bootstrapped\n$/);
    const paths = await watching("get svc -w -o jsonpath=$.spec.command[0]", [
      ["b", () => update("z")],
      ["z", () => undefined],
    ]);
    expect(paths.stdout).toBe("b\nz\n");
    const names = await watching("get svc -w -o name", [["web", () => undefined]]);
    expect(names.stdout).toBe("Services.supervisor.example.dev/web\n");
  });

  test("only what the selector asks for", async () => {
    const { stdout } = await watching("watch svc -l x=1 -o name", [
      ["waiting", () => state.create(Service.create("other", { command: [] }))],
      ["waiting", () => state.create(Service.create("mine", { command: [] }, { labels: { x: "1" } }))],
      ["mine", () => undefined],
    ]);
    expect(stdout).toBe("Services.supervisor.example.dev/mine\n");
  });

  test("one resource, which need not exist yet", async () => {
    const { stdout, stderr } = await watching("watch svc later --no-headers", [
      ["waiting", () => state.create(Service.create("web2", { command: [] }))],
      ["waiting", () => state.create(Service.create("later", { command: [] }))],
      ["+", () => state.destroy(Service.ref("later"))],
      ["-", () => undefined],
    ]);
    expect(stderr).toBe("homeostat: Service later does not exist in namespace default yet; waiting\n");
    expect(stdout.split("\n").map((line) => line.slice(0, 1))).toEqual(["+", "-", ""]);
  });

  test("several resources at once, and several namespaces", async () => {
    const both = await watching("watch svc web later -o name", [
      ["waiting", () => state.create(Service.create("later", { command: [] }))],
      ["later\n", () => undefined],
    ]);
    expect(both.stdout).toBe("Services.supervisor.example.dev/web\nServices.supervisor.example.dev/later\n");
    const everywhere = await watching("watch svc -A --no-headers", [
      ["web", () => state.create(Service.in("vault").create("deep", { command: [] }))],
      ["deep", () => undefined],
    ]);
    expect(everywhere.stdout).toMatch(/^\+ +default[^]*\n\+ +vault/);
  });

  test("one type at a time", async () => {
    expect(await runOn(state, ["watch", "svc,secret"])).toMatchObject({ code: 2 });
  });

  test("the end of the reader is the end of the work, and no failure", async () => {
    const end = new AbortController();
    const outcome = await runOn(state, ["watch", "svc"], {
      signal: end.signal,
      onOutput: () => end.abort(new BrokenPipe("nobody reads")),
    });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
  });
});

/** A State whose watches of services say what a test wants them to. */
function scripted(events: (real: State, end: Promise<unknown>) => AsyncIterableIterator<readonly Event[]>): State {
  return new Proxy(state, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key !== "watchKindBatches" && key !== "watch")
        return typeof value === "function" ? value.bind(target) : value;
      return async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<Watch<unknown>> => {
        const batches = events(target, once(signal, "abort"));
        const flat = async function* (): AsyncIterableIterator<unknown> {
          for await (const batch of batches) yield* key === "watch" ? batch : [batch];
        };
        return Object.assign(flat(), { [Symbol.asyncDispose]: async () => {} }) as Watch<unknown>;
      };
    },
  });
}

const marker = (type: "Resynced" | "Bootstrapped"): Event =>
  ({
    type: EventType[type === "Resynced" ? "resynced" : "bootstrapped"],
    resource: createTombstone(Service.ref("")),
  }) as Event;

describe("a watch that fell behind", () => {
  test("says so, and shows what changed meanwhile as if it had been seen", async () => {
    const created = async (real: State, id: string): Promise<Event> => ({
      type: EventType.created,
      resource: await real.create(Service.create(id, { command: [id] })),
    });
    const source = scripted(async function* (real, end) {
      const [gone, kept, changed] = [
        await created(real, "gone"),
        await created(real, "kept"),
        await created(real, "changed"),
      ];
      yield [gone, kept, changed, marker("Bootstrapped")];
      await real.destroy(Service.ref("gone"));
      const resource = await real.modify(Service, "changed", (spec) => {
        spec.command = ["new"];
      });
      yield [marker("Resynced"), kept, { type: EventType.created, resource }];
      // It falls behind once more before it is complete.
      yield [marker("Resynced"), kept];
      yield [{ type: EventType.created, resource }, await created(real, "fresh"), marker("Bootstrapped")];
      await end;
    });
    const { code, stdout, stderr } = await watching("watch svc --no-headers", [["fresh", () => undefined]], {
      open: () => source,
    });
    expect(code).toBe(130);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {3,}/).filter((_, i) => i === 0 || i === 3));
    expect(rows).toEqual([
      ["+", "gone"],
      ["+", "kept"],
      ["+", "changed"],
      ["-", "gone"],
      ["", "changed"],
      ["+", "fresh"],
    ]);
    expect(stderr.match(/could not go on where it was/g)).toHaveLength(2);
  });

  test("programs are told by a marker", async () => {
    const source = scripted(async function* (_, end) {
      yield [marker("Bootstrapped"), marker("Resynced"), marker("Bootstrapped")];
      await end;
    });
    const { stdout } = await watching("watch svc -o json", [["resynced", () => undefined]], { open: () => source });
    expect(stdout.split("\n").slice(0, 2)).toEqual(['{"event":"bootstrapped"}', '{"event":"resynced"}']);
  });

  test("one resource that went meanwhile is shown as destroyed", async () => {
    const source = scripted(async function* (real, end) {
      yield [{ type: EventType.created, resource: await real.get(Service.ref("web")) }];
      yield [marker("Resynced"), { type: EventType.destroyed, resource: createTombstone(Service.ref("web")) }];
      await end;
    });
    const { stdout } = await watching("watch svc web --no-headers", [["-  ", () => undefined]], { open: () => source });
    expect(stdout).toMatch(/^\+ +default +Service +web[^]*\n- +default +Service +web/);
  });
});

describe("a watch that fails", () => {
  test.each([
    ["unavailable", 5],
    ["watch_overrun", 1],
  ] as const)("ends with its error: %s", async (code, expected) => {
    const source = scripted(async function* () {
      yield [marker("Bootstrapped"), { type: EventType.errored, error: new StateError(code, "it is over") }];
    });
    const outcome = await runOn(state, ["watch", "svc"], { open: () => source });
    expect(outcome).toMatchObject({ code: expected, stdout: "", stderr: expect.stringContaining("it is over") });
  });

  test("one that just ends is a failure as well", async () => {
    const source = scripted(async function* () {
      yield [marker("Bootstrapped")];
    });
    expect(await runOn(state, ["watch", "svc"], { open: () => source })).toMatchObject({ code: 5 });
  });
});
