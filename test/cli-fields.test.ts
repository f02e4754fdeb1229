import { defineResource, MemoryState } from "homeostat";
import { ResourceDefinitionType } from "homeostat/resource";
import { connect, server } from "homeostat/grpc";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { KindCatalog, loadKinds } from "../src/cli/args/kind-catalog.ts";
import { askVersion } from "../src/cli/connect/open-state.ts";
import { packageVersion } from "../src/cli/package-version.ts";
import { describeTypes } from "../src/plane/index.ts";
import { TYPES } from "../examples/supervisor/supervisor.ts";
import { definitionsOf } from "../src/resource/index.ts";
import { runOn, Service, type Outcome } from "./cli-fixture.ts";

const Volume = defineResource({
  type: "Volumes.store.example.dev",
  spec: z.strictObject({
    size: z.string().describe("Such as 10GiB."),
    kind: z.enum(["ssd", "hdd"]).default("ssd"),
    mounts: z.array(z.object({ path: z.string(), readOnly: z.boolean().optional() })).default([]),
    labels: z.record(z.string(), z.number()).optional(),
    source: z.union([z.string(), z.object({ url: z.string() })]).optional(),
  }),
});
const Bare = defineResource({
  type: "Bares.store.example.dev",
  spec: { "~standard": { version: 1, vendor: "none", validate: (value: unknown) => ({ value }) } },
});

const state = new MemoryState();
await describeTypes(state, [Volume, Service, Bare], new Map());
const run = (line: string): Promise<Outcome> => runOn(state, line.split(" "));

describe("fields", () => {
  test("shows what a spec of a type may hold", async () => {
    const { code, stdout } = await run("fields volume");
    expect(code).toBe(0);
    const [head, , ...rows] = stdout.trimEnd().split("\n");
    expect(head).toBe("Volume (Volumes.store.example.dev), also volumes, volume");
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ["FIELD", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"],
      ["spec.size", "string", "yes", "Such as 10GiB."],
      ["spec.kind", '"ssd" | "hdd"', '"ssd"'],
      ["spec.mounts", "list of object", "[]"],
      ["spec.mounts[].path", "string", "yes"],
      ["spec.mounts[].readOnly", "boolean"],
      ["spec.labels", "object"],
      ["spec.labels.*", "number"],
      ["spec.source", "string | object"],
      ["spec.source.url", "string", "yes"],
    ]);
  });

  test("from a field on, as JSON Schema, and of a shape", async () => {
    expect(
      (await run("fields volume mounts")).stdout.split("\n").filter((line) => line.startsWith("spec")),
    ).toHaveLength(3);
    expect(JSON.parse((await run("fields volume -o json")).stdout)).toMatchObject({ type: "object" });
    expect((await run("fields svc spec.limits")).stdout).toMatch(/spec.limits.memory +string +yes/);
    expect(await run("fields volume mount")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("spec.mounts?"),
    });
  });

  test("says so where they are not known, also where a peer wrote nonsense", async () => {
    expect(await run("fields bare")).toMatchObject({ code: 1, stderr: expect.stringContaining("carries no schema") });
    expect(await run("fields Others.x.example")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no definition"),
    });
    for (const text of ["{", "[]", "7"]) {
      await state.updateWithConflicts(
        ResourceDefinitionType.ref("bares.store.example.dev"),
        (_, metadata) => {
          metadata.annotations["homeostat/schema"] = text;
        },
        { owner: "meta" },
      );
      expect((await run("fields bare")).code).toBe(1);
    }
  });

  test("a schema that contains itself ends somewhere", async () => {
    await state.updateWithConflicts(
      ResourceDefinitionType.ref("bares.store.example.dev"),
      (_, metadata) => {
        const node = {
          type: "object",
          properties: { left: { $ref: "#" }, right: { $ref: "#" }, loop: { $ref: "#/loop" } },
        };
        metadata.annotations["homeostat/schema"] = JSON.stringify({ ...node, loop: { $ref: "#/loop" } });
      },
      { owner: "meta" },
    );
    const { code, stdout, stderr } = await run("fields bare");
    expect(code).toBe(0);
    expect(stdout.split("\n").length).toBeLessThan(510);
    expect(stderr).toMatch(/\d+ more fields/);
  });
});

describe("version", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "homeostat-version-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("a server of ours says its own, and one that does not is told apart from one that is not there", async () => {
    await using serving = server(state);
    const { address } = await serving.listen(`unix:${join(folder, "s")}`);
    const ask = {
      askVersion: (endpoint: Parameters<typeof askVersion>[0]) => askVersion(endpoint, AbortSignal.timeout(10_000)),
    };
    const own = await packageVersion();
    const here = await runOn(undefined, ["version", "--endpoint", address], ask);
    expect(here).toEqual({
      code: 0,
      stdout: `client: homeostat ${own}, Node ${process.versions.node}\nserver: homeostat ${own} (${address})\n`,
      stderr: "",
    });
    const json = await runOn(undefined, ["version", "-o", "json", "--endpoint", address], ask);
    expect(JSON.parse(json.stdout)).toMatchObject({
      client: { version: own },
      servers: [{ name: "homeostat", version: own }],
    });
    const silent = await runOn(undefined, ["version", "--endpoint", address]);
    expect(silent).toMatchObject({ code: 0, stdout: expect.stringContaining("does not say its version") });
    const gone = await runOn(undefined, ["version", "--endpoint", `unix:${join(folder, "gone")}`], ask);
    expect(gone).toMatchObject({
      code: 5,
      stdout: expect.stringContaining("client:"),
      stderr: expect.stringContaining("no answer"),
    });
    expect((await runOn(undefined, ["version", "--client"], ask)).stdout).not.toContain("server");
    await using other = connect(address);
    expect(await other.list(ResourceDefinitionType)).not.toHaveLength(0);
  });
});

describe("the aliases of the supervisor", () => {
  test("each means one type", async () => {
    const sample = new MemoryState();
    await describeTypes(sample, TYPES, new Map());
    const catalog = await loadKinds(sample, new AbortController().signal);
    expect(catalog).toBeInstanceOf(KindCatalog);
    for (const [type, { spec }] of await definitionsOf(TYPES)) {
      for (const alias of spec.allAliases) expect(catalog.find(alias).type).toBe(type.type);
    }
  });
});
