import { existsSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  ManifestFolder,
  serviceManifest,
  SupervisorWorld,
  DEADLINE_MS,
  TIMEOUT_MS,
} from "./testing/supervisor-world.ts";

const SLEEP = ["sleep", "1000"];
const names = Array.from({ length: 50 }, (_, i) => `s${String(i).padStart(2, "0")}`);

describe("supervisor under abuse", { timeout: TIMEOUT_MS }, () => {
  test("50 manifests that change at once are 50 restarts, each once, and 50 that vanish leave nothing", async () => {
    await using world = await SupervisorWorld.start(
      Object.fromEntries(names.map((name) => [`${name}.yaml`, serviceManifest(name, { command: SLEEP })])),
    );
    for (const name of names) await world.ready(name);
    await Promise.all(
      names.map((name) => world.folder.write(`${name}.yaml`, serviceManifest(name, { command: ["sleep", "999"] }))),
    );
    for (const name of names) {
      expect(await world.service(name, ({ ready, restarts }) => ready && restarts > 0)).toMatchObject({ restarts: 1 });
    }
    const running = (await world.folder.processes()).map(({ service }) => service).sort();
    expect(running).toEqual(names);
    await Promise.all(names.map((name) => world.folder.remove(`${name}.yaml`)));
    for (const name of names) await world.gone(name);
    expect(await world.folder.processes()).toEqual([]);
  });

  test("a chain of 50 services that depend on each other starts and stops", async () => {
    await using world = await SupervisorWorld.start(
      Object.fromEntries(
        names.map((name, i) => [
          `${name}.yaml`,
          serviceManifest(name, { command: SLEEP, dependsOn: names.slice(Math.max(0, i - 1), i) }),
        ]),
      ),
    );
    await world.ready("s49");
    await world.stop();
    expect(await world.folder.processes()).toEqual([]);
  });

  test.runIf(existsSync("/dev/full"))(
    "a full log disk stops neither service nor supervisor, and is told until there is room again",
    async () => {
      const folder = await ManifestFolder.create({
        "a.yaml": serviceManifest("a", {
          command: ["sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i; echo $i > progress; sleep 0.01; done"],
        }),
      });
      const log = join(folder.path, ".homeostat", "logs", "a.log");
      await mkdir(join(log, ".."), { recursive: true });
      await symlink("/dev/full", log);
      await using world = await SupervisorWorld.start(folder);

      const { pid } = await world.service("a", ({ reason }) => reason.includes("ENOSPC"));
      const progress = async () => Number(await folder.read("progress").catch(() => "0"));
      // More than a pipe holds would block the service, if it were not drained.
      const before = await progress();
      await expect.poll(progress, { timeout: DEADLINE_MS }).toBeGreaterThan(before + 20);

      await rm(log);
      await writeFile(log, "");
      expect(await world.service("a", ({ reason }) => reason === "")).toMatchObject({ pid, restarts: 0, ready: true });
      await expect
        .poll(() => readFile(log, "utf8"))
        .toMatch(/^\[supervisor: \d+ bytes of output were lost: .*ENOSPC.*\]\nline \d+\n/);
    },
  );

  test("more output than fits is rotated, and a service that writes without end does not fill memory or disk", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["yes", "0123456789"], log: { maxBytes: 100_000, maxFiles: 2 } }),
    });
    await world.ready("a");
    const log = (suffix: string) => join(world.stateFolder, "logs", `a.log${suffix}`);
    await expect
      .poll(async () => (await readFile(log(".2")).catch(() => "")).length, { timeout: DEADLINE_MS })
      .toBeGreaterThan(0);
    await world.stop();
    for (const suffix of ["", ".1", ".2"]) expect((await readFile(log(suffix))).length).toBeLessThanOrEqual(100_000);
    await expect(readFile(log(".3"))).rejects.toThrow("ENOENT");
  });
});
