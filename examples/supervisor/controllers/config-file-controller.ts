import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { exclusive, mapped, Phase, queueController, requeueAfter } from "homeostat";
import { removeOutput } from "homeostat/controller";

import { digest } from "../logic/digest.ts";
import { labelServices } from "../logic/service-labels.ts";
import { configInputs, readServices } from "../logic/service-view.ts";
import { renderTemplate } from "../logic/template.ts";
import { makeFolder } from "../process/make-folder.ts";
import { writeAtomically } from "../process/write-atomically.ts";
import { ConfigFile, ConfigFileStatus, Service } from "../resources/index.ts";

/** How often a file is compared with what it should be. Unit: milliseconds. */
const DRIFT_CHECK_MS = 2_000;

/**
 * Renders config files and keeps them as rendered: a file that somebody else changed is put back. It restarts nothing:
 * services see the digest in the file's status.
 *
 * @param folder - What paths are relative to.
 */
export const configFileController = (folder: string) =>
  queueController({
    name: "ConfigFileController",
    primary: ConfigFile,
    inputs: [mapped(Service)],
    outputs: [exclusive(ConfigFileStatus)],
    concurrency: 4,
    async reconcile({ ref, state }) {
      const { id } = ref;
      const config = await state.getOrNull(ref);
      if (config?.metadata.phase !== Phase.running) {
        await removeOutput(state, ConfigFileStatus.ref(id));
        return;
      }
      const { spec } = config;
      const path = resolve(folder, spec.path);
      const services = await readServices(state, spec.template);
      const before = (await state.getOrNull(ConfigFileStatus, id))?.spec;
      const rival = (await state.list(ConfigFile)).find(
        (other) => other.metadata.id < id && resolve(folder, other.spec.path) === path,
      );
      let [written, error] = [before?.path === path ? before.digest : "", ""];
      try {
        if (rival !== undefined) throw new Error(`ConfigFile ${rival.metadata.id} has the same path`);
        const content = renderTemplate(spec.template, { values: spec.values, services });
        await keepFile(path, content, Number.parseInt(spec.mode, 8), folder);
        written = digest(content);
      } catch (cause) {
        error = (cause as Error).message;
      }
      await state.modify(ConfigFileStatus, id, (_, { labels }) => {
        labelServices(labels, spec.restarts);
        return { path, digest: written, inputs: configInputs(spec, services), error };
      });
      return requeueAfter(DRIFT_CHECK_MS);
    },
    /** Any template may name any service. */
    async mapInput({ state }) {
      return (await state.list(ConfigFile)).map(({ metadata }) => ConfigFile.ref(metadata.id));
    },
  });

/** Writes the file unless it is as it should be. */
async function keepFile(path: string, content: string, mode: number, folder: string): Promise<void> {
  try {
    const { mode: bits, size } = await stat(path);
    const same = size === Buffer.byteLength(content) && (await readFile(path, "utf8")) === content;
    if (same && (bits & 0o777) === mode) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await makeFolder(dirname(path), folder);
  await writeAtomically(path, content, mode);
}
