import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";

import { mapped, RequeueError } from "homeostat";
import { queueTransform } from "homeostat/controller";

import { digest } from "../logic/digest.ts";
import { labelServices } from "../logic/service-labels.ts";
import { configInputs, readServices } from "../logic/service-view.ts";
import { renderTemplate } from "../logic/template.ts";
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
  queueTransform({
    name: "ConfigFileController",
    input: ConfigFile,
    output: ConfigFileStatus,
    inputs: [mapped(Service)],
    concurrency: 4,
    async transform({ input, draft, metadata, state }) {
      const { id } = input.metadata;
      const { spec } = input;
      const path = resolve(folder, spec.path);
      const services = await readServices(state, spec.template);
      const rival = (await state.list(ConfigFile)).find(
        (other) => other.metadata.id < id && resolve(folder, other.spec.path) === path,
      );
      labelServices(metadata.labels, spec.restarts);
      draft.digest = draft.path === path ? (draft.digest ?? "") : "";
      Object.assign(draft, { path, inputs: configInputs(spec, services), error: "" });
      try {
        if (rival !== undefined) throw new Error(`ConfigFile ${rival.metadata.id} has the same path`);
        const content = renderTemplate(spec.template, { values: spec.values, services });
        await keepFile(path, content, Number.parseInt(spec.mode, 8), folder);
        draft.digest = digest(content);
      } catch (cause) {
        draft.error = (cause as Error).message;
      }
      // The status is written, and the file looked at again later.
      throw new RequeueError(DRIFT_CHECK_MS);
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

/**
 * Makes a folder, and missing ones above it as far as `root`, which must exist already.
 *
 * Never more than that: when somebody moves the folder of manifests away, a write into it must not bring it back, empty,
 * since an empty folder says that nothing should run.
 */
async function makeFolder(path: string, root: string): Promise<void> {
  if (path === root) return;
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    const above = dirname(path);
    if (code !== "ENOENT" || !above.startsWith(`${root}${sep}`)) throw error;
    await makeFolder(above, root);
    await mkdir(path);
  }
}
