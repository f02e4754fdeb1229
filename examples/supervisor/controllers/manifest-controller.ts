import {
  controller,
  destroyReady,
  exclusive,
  isDestroyReady,
  Phase,
  weak,
  type Controller,
  type ControllerState,
  type Resource,
  type SpecOf,
} from "homeostat";

import { findDoubts } from "../manifest-files/find-doubts.ts";
import { MANIFEST_TYPES, parseFiles, type Declarable, type ParsedFile } from "../manifest-files/parse-files.ts";
import { readFolder } from "../manifest-files/read-folder.ts";
import { watchFolder } from "../manifest-files/watch-folder.ts";
import {
  ConfigFile,
  FOLDER_STATUS_ID,
  HealthCheck,
  ManifestStatus,
  Service,
  SUPERVISOR_GOAL_ID,
  SupervisorGoal,
  SupervisorStatus,
  type ManifestProblem,
} from "../resources/index.ts";

/** Says which file a resource comes from. */
const FILE_ANNOTATION = "supervisor.example.dev/file";

type Writable = Declarable | typeof ManifestStatus | typeof SupervisorStatus;
type State = ControllerState<Writable | typeof SupervisorGoal, Writable>;

/**
 * Puts in force what the manifests of a folder declare, and nothing else. It owns those resources: what no manifest
 * declares any more is torn down, and destroyed when its finalizers are gone.
 */
export function manifestController(folder: string): Controller {
  return controller({
    name: "ManifestController",
    inputs: [
      destroyReady(Service),
      destroyReady(HealthCheck),
      destroyReady(ConfigFile),
      weak(SupervisorGoal, SUPERVISOR_GOAL_ID),
    ],
    outputs: [
      exclusive(Service),
      exclusive(HealthCheck),
      exclusive(ConfigFile),
      exclusive(ManifestStatus),
      exclusive(SupervisorStatus),
    ],
    async run({ state, clock, wakeups, queueReconcile, resetRestartBackoff, signal }) {
      using _watcher = watchFolder(folder, clock, queueReconcile);
      for await (const _ of wakeups) {
        if (signal.aborted) return;
        await reconcileFolder(state, folder);
        resetRestartBackoff();
      }
    },
  });
}

async function reconcileFolder(state: State, folder: string): Promise<void> {
  const goal = await state.getOrNull(SupervisorGoal, SUPERVISOR_GOAL_ID);
  if (goal?.spec.wanted !== "running") {
    await removeAllBut(state, () => false);
    await tellPhase(state, (await isEmpty(state)) ? "stopped" : "stopping");
    return;
  }
  await tellPhase(state, "running");
  let files: ParsedFile[];
  try {
    files = await parseFiles(await readFolder(folder));
    await removeStatus(state, FOLDER_STATUS_ID);
  } catch (error) {
    // A folder that cannot be read declares nothing to the contrary: all stays as it is.
    const problem: ManifestProblem = { severity: "error", message: `${folder}: ${(error as Error).message}` };
    await state.modify(ManifestStatus, FOLDER_STATUS_ID, () => ({ problems: [problem], applied: [], kept: [] }));
    return;
  }

  const declared = new Set<string>();
  const spoiled = new Set(files.filter(hasErrors).map(({ name }) => name));
  for (const type of MANIFEST_TYPES) {
    for (const file of files) {
      for (const resource of file.resources) {
        if (resource.metadata.type !== type.type) continue;
        declared.add(keyOf(resource));
        await apply(state, file.name, resource);
      }
    }
  }
  const kept = await removeAllBut(state, (resource) => {
    if (declared.has(keyOf(resource))) return true;
    // Its document may be the one with the mistake: the last good version stays.
    return spoiled.has(resource.metadata.annotations[FILE_ANNOTATION] ?? "") ? "kept" : false;
  });
  const inForce = (await state.list(Service)).filter(({ metadata }) => metadata.phase === Phase.running);
  const services = new Map(inForce.map(({ metadata, spec }) => [metadata.id, spec.dependsOn]));
  for (const file of files) {
    await state.modify(ManifestStatus, file.name, () => ({
      problems: [...file.problems, ...findDoubts(file, services)],
      applied: file.resources.map(keyOf).sort(),
      kept: kept.filter(({ metadata }) => metadata.annotations[FILE_ANNOTATION] === file.name).map(keyOf),
    }));
  }
  const present = new Set(files.map(({ name }) => name));
  for (const { metadata } of await state.list(ManifestStatus)) {
    if (!present.has(metadata.id)) await removeStatus(state, metadata.id);
  }
}

async function tellPhase(state: State, phase: SpecOf<typeof SupervisorStatus>["phase"]): Promise<void> {
  await state.modify(SupervisorStatus, SUPERVISOR_GOAL_ID, () => ({ phase }));
}

async function isEmpty(state: State): Promise<boolean> {
  for (const type of MANIFEST_TYPES) if ((await state.list(type)).length > 0) return false;
  return true;
}

const hasErrors = ({ problems }: ParsedFile): boolean => problems.some(({ severity }) => severity === "error");

/** `Services/web`: enough to tell declared resources apart, and for people. */
const keyOf = ({ metadata: { type, id } }: Resource): string => `${type.split(".", 1)[0]}/${id}`;

async function apply(state: State, file: string, resource: Resource): Promise<void> {
  switch (resource.metadata.type) {
    case Service.type:
      return put(state, Service, file, resource);
    case HealthCheck.type:
      return put(state, HealthCheck, file, resource);
    case ConfigFile.type:
      return put(state, ConfigFile, file, resource);
  }
}

async function put<R extends Declarable>(state: State, type: R, file: string, resource: Resource): Promise<void> {
  const { id, labels, annotations } = resource.metadata;
  const present = await state.getOrNull(type.ref(id));
  // What is on its way out is declared anew when it is gone.
  if (present !== undefined && present.metadata.phase !== Phase.running) return;
  await state.modify(type, id, (_, draft) => {
    replace(draft.labels, labels);
    replace(draft.annotations, { ...annotations, [FILE_ANNOTATION]: file });
    return type.parseSpec(resource.spec) as SpecOf<R>;
  });
}

function replace(draft: Record<string, string>, wanted: Readonly<Record<string, string>>): void {
  for (const key of Object.keys(draft)) delete draft[key];
  Object.assign(draft, wanted);
}

/**
 * Tears down what is not to stay, services first, so that they do not restart for a file or check that goes with them.
 * Resolves to those that were kept without being declared.
 */
async function removeAllBut(state: State, stays: (resource: Resource) => boolean | "kept"): Promise<Resource[]> {
  const kept: Resource[] = [];
  for (const type of MANIFEST_TYPES.toReversed()) {
    for (const resource of await state.list(type)) {
      const { id, phase } = resource.metadata;
      const verdict = phase === Phase.running && stays(resource);
      if (verdict === "kept") kept.push(resource);
      if (verdict !== false) continue;
      if (isDestroyReady(resource.metadata) || (await state.teardown(type.ref(id)))) await state.destroy(type.ref(id));
    }
  }
  return kept;
}

async function removeStatus(state: State, id: string): Promise<void> {
  if ((await state.getOrNull(ManifestStatus, id)) === undefined) return;
  await state.teardown(ManifestStatus.ref(id));
  await state.destroy(ManifestStatus.ref(id));
}
