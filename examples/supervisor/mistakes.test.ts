import { execFileSync } from "node:child_process";
import { copyFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ConfigFileStatus, ServiceStatus } from "./resources/index.ts";
import { manifest, ManifestFolder, serviceManifest, SupervisorWorld, TIMEOUT_MS } from "./testing/supervisor-world.ts";

const SLEEP = ["sleep", "1000"];
const GOOD = serviceManifest("good", { command: SLEEP });

interface Mistake {
  readonly what: string;
  /** The manifest `bad.yaml`. */
  readonly text: string;
  readonly line: number;
  readonly field?: string;
  readonly message: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    what: "bad YAML",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  command: [sleep\n  env: {}\n",
    line: 6,
    message: /./,
  },
  {
    what: "an unknown type",
    text: "metadata:\n  type: Servise\n  id: bad\nspec: {}\n",
    line: 2,
    field: "metadata.type",
    message: /"Servise" is not a known type; known: .*Services\.supervisor\.example\.dev/,
  },
  {
    what: "a missing field",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  cwd: .\n",
    line: 4,
    field: "spec.command",
    message: /^is missing$/,
  },
  {
    what: "a field of the wrong type",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  command: [sleep, '1']\n  stopGraceMs: soon\n",
    line: 6,
    field: "spec.stopGraceMs",
    message: /^must be of the type number, not string$/,
  },
  {
    what: "an unknown field",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  command: [sleep, '1']\n  comand: [x]\n",
    line: 6,
    field: "spec.comand",
    message: /^is not a known field$/,
  },
  {
    what: "a misspelt field, which is not missing as well,",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  comand: [sleep, '1']\n",
    line: 5,
    field: "spec.comand",
    message: /^is not a known field; did you mean command\?$/,
  },
  {
    what: "a word in place of a list",
    text: "metadata:\n  type: Service\n  id: bad\nspec:\n  command: sleep 1\n",
    line: 5,
    field: "spec.command",
    message: /^must be a list: \[sleep, 1\]$/,
  },
  {
    what: "a name that is taken",
    text: "metadata:\n  type: Service\n  id: a-first\nspec:\n  command: [sleep, '1']\n",
    line: 3,
    field: "metadata.id",
    message: /a-first is declared in a-first\.yaml already/,
  },
  {
    what: "a name that is no file name",
    text: "metadata:\n  type: Service\n  id: ../../etc/bad\nspec:\n  command: [sleep, '1']\n",
    line: 3,
    field: "metadata.id",
    message: /must be a name/,
  },
  {
    what: "another namespace",
    text: "metadata:\n  type: Service\n  namespace: other\n  id: bad\nspec:\n  command: [sleep, '1']\n",
    line: 3,
    field: "metadata.namespace",
    message: /must be default/,
  },
  {
    what: "a health check with two questions",
    text: "metadata:\n  type: HealthCheck\n  id: bad\nspec:\n  service: good\n  tcp: ':1'\n  http: 'http://127.0.0.1:1'\n",
    line: 4,
    field: "spec",
    message: /exactly one of http, tcp and command/,
  },
];

describe("mistakes in manifests", { timeout: TIMEOUT_MS }, () => {
  test.for(MISTAKES)("$what is reported with file, line and field, and everything else runs", async (mistake) => {
    await using world = await SupervisorWorld.start({
      "a-first.yaml": serviceManifest("a-first", { command: SLEEP }),
      // The mistake is one document of a file that has a good one as well.
      "bad.yaml": `${mistake.text}${GOOD}`,
    });
    await world.ready("a-first");
    await world.ready("good");
    const { problems, applied } = await world.manifest("bad.yaml", () => true);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ severity: "error", line: mistake.line });
    expect(problems[0]?.field).toBe(mistake.field);
    expect(problems[0]?.message).toMatch(mistake.message);
    expect(applied).toEqual(["Services/good"]);
    expect((await world.state.list(ServiceStatus)).map(({ metadata }) => metadata.id)).toEqual(["a-first", "good"]);
  });

  test("a name that is there twice in one file is reported, and the first one runs", async () => {
    await using world = await SupervisorWorld.start({
      "bad.yaml": GOOD + serviceManifest("good", { command: ["false"] }),
    });
    const { problems } = await world.manifest("bad.yaml", () => true);
    expect(problems).toMatchObject([{ line: 5, field: "metadata.id", message: /already/ }]);
    await world.ready("good");
  });

  test("when a manifest gets a mistake, the last good version keeps running until it is mended", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": GOOD + serviceManifest("other", { command: SLEEP }),
      "check.yaml": manifest("HealthCheck", "h", { service: "good", command: ["true"] }),
    });
    const { pid } = await world.ready("good");
    await world.ready("other");
    // One document is broken, the other one changed.
    await world.folder.write(
      "a.yaml",
      "---\nmetadata: {type: Service\n" + serviceManifest("other", { command: ["sleep", "999"] }),
    );
    const broken = await world.manifest("a.yaml", ({ problems }) => problems.length > 0);
    expect(broken.kept).toEqual(["Services/good"]);
    // What is kept counts as declared.
    expect((await world.manifest("check.yaml", () => true)).problems).toEqual([]);
    expect(await world.service("other", ({ restarts, ready }) => ready && restarts === 1)).toBeDefined();
    expect(await world.ready("good")).toMatchObject({ pid, restarts: 0 });

    await world.folder.write("a.yaml", GOOD);
    await world.manifest("a.yaml", ({ problems }) => problems.length === 0);
    await world.gone("other");
    expect(await world.ready("good")).toMatchObject({ pid, restarts: 0 });
  });

  test("an unknown dependency is reported in manifest and service, and is no mistake any more when it appears", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP, dependsOn: ["b"] }),
      "good.yaml": GOOD,
    });
    const { problems } = await world.manifest("a.yaml", () => true);
    expect(problems).toMatchObject([
      { severity: "warning", line: 3, field: "spec.dependsOn[0]", message: 'no service "b" is declared' },
    ]);
    expect(await world.service("a", ({ state }) => state === "blocked")).toMatchObject({
      reason: 'depends on "b", which is not declared',
    });
    await world.ready("good");
    await world.folder.write("b.yaml", serviceManifest("b", { command: SLEEP }));
    await world.ready("a");
    await world.manifest("a.yaml", (now) => now.problems.length === 0);
  });

  test("a dependency cycle is reported with its path, and starts when it is broken up", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP, dependsOn: ["b"] }),
      "b.yaml": serviceManifest("b", { command: SLEEP, dependsOn: ["c"] }),
      "c.yaml": serviceManifest("c", { command: SLEEP, dependsOn: ["a"] }),
      "d.yaml": serviceManifest("d", { command: SLEEP, dependsOn: ["a"] }),
      "good.yaml": GOOD,
    });
    await world.ready("good");
    expect(await world.service("a", ({ state }) => state === "blocked")).toMatchObject({
      reason: "dependency cycle: a → b → c → a",
    });
    expect(await world.service("b", ({ state }) => state === "blocked")).toMatchObject({
      reason: "dependency cycle: b → c → a → b",
    });
    expect(
      await world.service("d", ({ state, reason }) => state === "waiting" && reason.includes("blocked")),
    ).toMatchObject({
      reason: "waits for a (blocked)",
    });
    expect((await world.manifest("a.yaml", () => true)).problems).toMatchObject([
      { severity: "warning", field: "spec.dependsOn", message: "dependency cycle: a → b → c → a" },
    ]);
    // One mistake is one line.
    for (const file of ["b.yaml", "c.yaml", "d.yaml"]) {
      expect((await world.manifest(file, () => true)).problems).toEqual([]);
    }
    await world.folder.write("c.yaml", serviceManifest("c", { command: SLEEP }));
    for (const name of ["c", "b", "a", "d"]) await world.ready(name);
  });

  test("services that get into a cycle while they run keep running, and can all be stopped", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP }),
      "b.yaml": serviceManifest("b", { command: SLEEP, dependsOn: ["a"] }),
    });
    const { pid } = await world.ready("b");
    await world.folder.write("a.yaml", serviceManifest("a", { command: SLEEP, dependsOn: ["b"] }));
    await world.service("a", ({ reason }) => reason === "dependency cycle: a → b → a");
    expect(await world.ready("b")).toMatchObject({ pid, restarts: 0 });
    await world.stop();
    expect(await world.folder.processes()).toEqual([]);
  });

  test("a template that cannot be rendered is reported, and its services wait", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("a", { command: SLEEP }) +
        manifest("ConfigFile", "c", { path: "c.txt", template: "x\n{{ values.port }}", restarts: ["a"] }),
    });
    await world.service("a", ({ reason }) => reason === "waits for config file c (failed)");
    expect((await world.state.get(ConfigFileStatus, "c")).spec.error).toBe(
      "line 2 of the template: {{ values.port }} leads nowhere: there is no port in values",
    );
  });

  test("a folder that goes away leaves everything running", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": GOOD });
    const { pid } = await world.ready("good");
    await rename(world.folder.path, `${world.folder.path}-moved`);
    const { problems } = await world.manifest("(folder)", () => true);
    expect(problems[0]?.message).toContain("ENOENT");
    expect(await world.ready("good")).toMatchObject({ pid });
    await rename(`${world.folder.path}-moved`, world.folder.path);
    await world.folder.write("b.yaml", serviceManifest("b", { command: SLEEP }));
    await world.ready("b");
  });

  test("a FIFO, a device and a link that leads nowhere stop neither what runs nor what comes", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": GOOD });
    const { pid } = await world.ready("good");
    const { path } = world.folder;
    execFileSync("mkfifo", [join(path, "0-fifo.yaml")]);
    await symlink("/dev/zero", join(path, "0-device.yaml"));
    await copyFile(join(path, "a.yaml"), join(path, "target"));
    await symlink("target-to-come", join(path, "link"));
    await rename(join(path, "link"), join(path, "a.yaml"));
    const { problems, kept } = await world.manifest("a.yaml", (now) => now.problems.length > 0);
    expect(problems[0]?.message).toBe("is a symbolic link to target-to-come, which does not exist");
    expect(kept).toEqual(["Services/good"]);
    await world.folder.write("b.yaml", serviceManifest("b", { command: SLEEP }));
    await world.ready("b");
    await rename(join(path, "target"), join(path, "target-to-come"));
    await world.manifest("a.yaml", (now) => now.problems.length === 0);
    expect(await world.ready("good")).toMatchObject({ pid, restarts: 0 });
  });

  test("a folder behind a symbolic link that is switched is followed", async () => {
    await using parent = await ManifestFolder.create();
    for (const version of ["v1", "v2"]) {
      await mkdir(join(parent.path, version));
      await writeFile(
        join(parent.path, version, "a.yaml"),
        serviceManifest("a", { command: ["sleep", version === "v1" ? "1001" : "1002"] }),
      );
    }
    await symlink("v1", join(parent.path, "current"));
    await using world = await SupervisorWorld.start(parent, {
      folder: join(parent.path, "current"),
      stateFolder: join(parent.path, ".homeostat"),
    });
    await world.ready("a");
    await symlink("v2", join(parent.path, "next"));
    await rename(join(parent.path, "next"), join(parent.path, "current"));
    expect(await world.service("a", ({ ready, restarts }) => ready && restarts === 1)).toMatchObject({
      startReason: "its declaration changed",
    });
    await rm(join(parent.path, "v2", "a.yaml"));
    await world.gone("a");
  });
});
