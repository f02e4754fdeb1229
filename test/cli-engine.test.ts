import { defineControlPlane, defineResource, queueTransform, shape, silentLogger, type State } from "homeostat";
import { connect } from "homeostat/grpc";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assertResource, eventually } from "../src/testing/index.ts";
import { describedState, lent, runOn, type Outcome } from "./cli-fixture.ts";

const Int = defineResource({ type: "Ints.engine.example.dev", spec: shape({ value: "integer" }), aliases: ["int"] });
const Str = defineResource({ type: "Strs.engine.example.dev", spec: shape({ value: "string" }), aliases: ["str"] });

const plane = defineControlPlane({
  resources: [Int, Str],
  controllers: [
    queueTransform({
      name: "IntToStr",
      input: Int,
      output: Str,
      transform({ input }) {
        if (input.spec.value < 0) throw new Error("it is negative");
        return { value: String(input.spec.value) };
      },
    }),
  ],
});

let folder: string;
let state: State;
const stop = new AbortController();
let running: Promise<void>;
const run = (line: string): Promise<Outcome> => runOn(lent(state), line.split(" "));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-"));
  const address = `unix:${join(folder, "state")}`;
  const ready = Promise.withResolvers<void>();
  running = plane.run({ signal: stop.signal, logger: silentLogger, listen: [address], onReady: () => ready.resolve() });
  await Promise.race([ready.promise, running]);
  state = connect(address);
  await state.create(Int.create("good", { value: 1 }));
  await state.create(Int.create("bad", { value: -1 }));
  await state.create(Int.create("held", { value: 2 }, { finalizers: ["Gone"] }));
  await state.teardown(Int.ref("held"));
  await assertResource(state, Str, "good");
});

afterAll(async () => {
  await state[Symbol.asyncDispose]();
  stop.abort();
  await running;
  await rm(folder, { recursive: true, force: true });
});

describe("the engine from the command line", () => {
  test("get controllers", async () => {
    await eventually(async () => {
      const { stdout, code } = await run("get controllers");
      expect(code).toBe(0);
      expect(stdout).toMatch(/FORM +STATE +QUEUE +RUNS +FAILURES +LAST FAILURE/);
      expect(stdout).toMatch(/IntToStr .* queue +waiting .* it is negative/);
    });
  });

  test("explain: what is in the way, since when, and what can be done", async () => {
    expect(await run("explain int good")).toEqual({
      code: 0,
      stdout: "Ints.engine.example.dev/good: running\n  nothing is in its way, as far as the engine knows\n",
      stderr: "",
    });
    const { stdout } = await run("explain str/bad");
    expect(stdout).toMatch(/^Strs\.engine\.example\.dev\/bad: does not exist\n {2}1\. .*IntToStr writes its type\n/);
    expect(stdout).toMatch(/ {2}2\. IntToStr failed: it is negative \(for \d+s, again (in \d+s|now)\)\n/);
    expect(stdout).toContain("What can be done:\n  - mend what IntToStr fails with; it tries again by itself\n");
    const json = JSON.parse((await run("explain int held -o json")).stdout) as unknown;
    expect(json).toMatchObject({ phase: "tearingDown", steps: [{ finalizer: "Gone" }] });
    expect(await run("explain int")).toMatchObject({ code: 2 });
  });

  test("graph, in each form", async () => {
    expect((await run("graph")).stdout).toMatch(
      /^IntToStr \(queue, \w+\)\n {2}reads {3}Ints\.engine\.example\.dev in default, primary\n/,
    );
    expect((await run("graph -o dot")).stdout).toMatch(/^digraph controllers \{/);
    expect((await run("graph -o mermaid")).stdout).toMatch(/^flowchart LR/);
    expect((await run("graph -o svg")).stdout).toMatch(/<svg [^>]*>[^]*IntToStr[^]*<\/svg>/);
    expect(JSON.parse((await run("graph -o json")).stdout)).toContainEqual({
      controller: "IntToStr",
      namespace: "",
      type: Str.type,
      id: "",
      edge: "exclusive",
    });
    expect(await run("graph -o png")).toMatchObject({ code: 2, stderr: expect.stringContaining("text, json, dot") });
  });

  test("finalizer release: takes it off, and notes why", async () => {
    const missing = await run("finalizer release int held Nothing --reason why");
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('no finalizer "Nothing"; it has Gone') });
    expect(await run("finalizer release int held Gone")).toMatchObject({ code: 2 });
    expect(await run("finalizer release int held Gone --reason sold")).toMatchObject({
      code: 0,
      stdout: "Ints.engine.example.dev/held is no longer held by Gone\n",
    });
    const { metadata } = await state.get(Int, "held");
    expect(metadata.finalizers).toEqual([]);
    expect(metadata.annotations["homeostat/released-finalizers"]).toMatch(/^\d{4}-.*Z Gone: sold$/);
  });

  test("a server without an engine says so", async () => {
    const bare = await describedState();
    const on = (line: string) => runOn(bare, line.split(" "));
    expect(await on("explain svc web")).toMatchObject({ code: 3, stderr: expect.stringContaining("runs no engine") });
    expect(await on("graph")).toMatchObject({ code: 3, stderr: expect.stringContaining("shows no controllers") });
  });
});
