import { ManualClock, type MemoryState } from "homeostat";
import { beforeEach, describe, expect, test } from "vitest";
import { describedState, opaque, runOn, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";

let state: MemoryState;
const name = "Services.supervisor.example.dev/web";
const run = (line: string, host?: FakeHost): Promise<Outcome> => runOn(state, line.split(" "), host);

beforeEach(async () => {
  state = await describedState();
  const web = Service.create("web", { command: [] }, { labels: { tier: "front" }, finalizers: ["HolderController"] });
  const yaml = "command: [a]\nconditions: [{ type: Ready, status: 'False' }]\nreplicas: 3\n";
  await state.create(opaque(web, yaml));
});

/** A clock that jumps as soon as something waits for it. */
class ImpatientClock extends ManualClock {
  override schedule(delayMs: number, fn: () => void): ReturnType<ManualClock["schedule"]> {
    const timer = super.schedule(delayMs, fn);
    setImmediate(() => void this.advance(delayMs));
    return timer;
  }
}

describe("wait", () => {
  test.each([
    "created",
    "phase=running",
    "jsonpath={.spec.command[0]}=a",
    "jsonpath={.spec.replicas}=3",
    "jsonpath=$.spec.replicas",
    'jsonpath={.spec.conditions[?(@.type=="Ready")].status}=False',
    "condition=ready=false",
  ])("%s is met already", async (condition) => {
    expect(await run(`wait svc web --for=${condition}`)).toEqual({
      code: 0,
      stdout: `${name} condition met\n`,
      stderr: "",
    });
  });

  test("for what comes later: creation, a phase, a value, the end", async () => {
    const later = (line: string): Promise<Outcome> => run(line, { clock: new ManualClock() });
    const created = later("wait svc db --for=create");
    await state.create(Service.create("db", { command: [] }));
    expect(await created).toMatchObject({ code: 0, stdout: expect.stringContaining("/db condition met") });
    const torn = later("wait svc web --for=phase=tearingDown");
    const gone = later("wait svc/web svc/db svc/never --for=delete");
    await state.teardown(Service.ref("web"));
    expect((await torn).code).toBe(0);
    await state.removeFinalizer(Service.ref("web"), "HolderController");
    await state.destroy(Service.ref("web"));
    await state.destroy(Service.ref("db"));
    expect((await gone).stdout.trim().split("\n")).toHaveLength(3);
  });

  test("another resource under the same id is not the one that was waited for", async () => {
    await state.create(Service.create("db", { command: [] }));
    const gone = run("wait svc db --for=deleted", { clock: new ManualClock() });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await state.destroy(Service.ref("db"));
    await state.create(Service.create("db", { command: [] }));
    expect((await gone).code).toBe(0);
  });

  test.each([
    ["phase=tearingDown", "it is running"],
    ["jsonpath={.spec.replicas}=4", "{.spec.replicas} is 3"],
    ["jsonpath={.spec.nothing}", "{.spec.nothing} finds nothing"],
    ["condition=Ready", "condition Ready is False"],
    ["condition=Done", "its spec has no condition Done"],
    ["deleted", "it is running, held by HolderController"],
  ])("%s: when the time is up, it says how things stand", async (condition, present) => {
    const clock = new ImpatientClock();
    expect(await run(`wait svc web --for=${condition} --timeout 5s`, { clock })).toEqual({
      code: 6,
      stdout: "",
      stderr: `homeostat: ${name}: ${condition} was not met within 5s; ${present}\n`,
    });
    expect(clock.pending).toBe(0);
  });

  test("ends at once when the condition cannot be met any more", async () => {
    expect(await run("wait svc nobody --for=phase=running")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/does not exist, and cannot meet phase=running\n$/),
    });
    await state.create(Service.create("db", { command: [] }));
    const waiting = run("wait svc db --for=phase=tearingDown", { clock: new ManualClock() });
    await new Promise((resolve) => setImmediate(resolve));
    await state.destroy(Service.ref("db"));
    expect(await waiting).toMatchObject({ code: 3, stderr: expect.stringContaining("cannot meet") });
  });

  test("by label, all, and never by accident", async () => {
    expect((await run("wait svc -l tier=front --for=created")).stdout).toBe(`${name} condition met\n`);
    expect((await run("wait svc --all --for=created")).stdout).toBe(`${name} condition met\n`);
    expect((await run("wait svc --for=created")).code).toBe(2);
    expect(await run("wait svc -l tier=back --for=created")).toMatchObject({ code: 3 });
  });

  test.each(["ready", "phase", "phase=done", "jsonpath=", "jsonpath={.a", "condition="])(
    "%j is no condition",
    async (condition) => {
      const { code, stdout, stderr } = await run(`wait svc web --for=${condition}`);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toBe("");
    },
  );
});
