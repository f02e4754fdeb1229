import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import {
  exclusive,
  mapped,
  Phase,
  queueController,
  requeueAfter,
  type Immutable,
  type QueueController,
  type Resource,
} from "homeostat";

import { digest } from "../logic/digest.ts";
import { configInputs } from "../logic/service-view.ts";
import { renderTemplate } from "../logic/template.ts";
import { makeFolder } from "../process/make-folder.ts";
import { writeAtomically } from "../process/write-atomically.ts";
import { ConfigFile, ConfigFileStatus, Service } from "../resources/index.ts";
import { labelServices } from "./service-labels.ts";

/** How often a file is compared with what it should be. Unit: milliseconds. */
const DRIFT_CHECK_MS = 2_000;

/**
 * Renders config files and keeps them as rendered: a file that somebody else changed is put back. It restarts nothing:
 * services see the digest in the file's status.
 *
 * @param folder - What paths are relative to.
 */
export function configFileController(folder: string): QueueController {
  const resolvePath = (path: string) => resolve(folder, path);
  return queueController({
    name: "ConfigFileController",
    primary: ConfigFile,
    inputs: [mapped(Service)],
    outputs: [exclusive(ConfigFileStatus)],
    concurrency: 4,
    async reconcile({ ref, state }) {
      const { id } = ref;
      const config = await state.getOrNull(ref);
      if (config === undefined || config.metadata.phase !== Phase.running) {
        if ((await state.getOrNull(ConfigFileStatus, id)) === undefined) return;
        await state.teardown(ConfigFileStatus.ref(id));
        await state.destroy(ConfigFileStatus.ref(id));
        return;
      }
      const { spec } = config;
      const path = resolvePath(spec.path);
      const services = new Map((await state.list(Service)).map(({ metadata, spec: data }) => [metadata.id, data]));
      const before = (await state.getOrNull(ConfigFileStatus, id))?.spec;
      const rival = (await state.list(ConfigFile)).find(
        (other) => other.metadata.id < id && resolvePath(other.spec.path) === path,
      );
      let [written, error] = [before?.path === path ? before.digest : "", ""];
      try {
        if (rival !== undefined) throw new Error(`ConfigFile ${rival.metadata.id} has the same path`);
        const content = renderTemplate(spec.template, {
          values: spec.values,
          services: servicesForTemplates(services),
        });
        await keepFile(path, content, Number.parseInt(spec.mode, 8), folder);
        written = digest(content);
      } catch (cause) {
        error = (cause as Error).message;
      }
      await state.modify(ConfigFileStatus, id, (_, metadata) => {
        labelServices(metadata.labels, spec.restarts);
        return { path, restarts: [...spec.restarts], digest: written, inputs: configInputs(spec, services), error };
      });
      return requeueAfter(DRIFT_CHECK_MS);
    },
    /** Any template may speak of any service. */
    async mapInput({ state }) {
      return (await state.list(ConfigFile)).map((config: Resource) => ConfigFile.ref(config.metadata.id));
    },
  });
}

/** What `{{ services.… }}` stands for. */
export function servicesForTemplates(
  services: ReadonlyMap<string, Immutable<{ command: string[]; env: Record<string, string>; cwd: string }>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from(services, ([name, { command, env, cwd }]) => [name, { command, env, cwd }]));
}

/** Writes the file unless it is as it should be. */
async function keepFile(path: string, content: string, mode: number, folder: string): Promise<void> {
  try {
    const [present, { mode: bits }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    if (present === content && (bits & 0o777) === mode) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await makeFolder(dirname(path), folder);
  await writeAtomically(path, content, mode);
}
