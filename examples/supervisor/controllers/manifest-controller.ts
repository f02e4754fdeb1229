import {
  controller,
  destroyReady,
  exclusive,
  Phase,
  strong,
  type ControllerState,
  type Resource,
  type SpecOf,
} from "homeostat";

import { labelServices } from "../logic/service-labels.ts";
import { FolderReader } from "../manifest-files/folder-reader.ts";
import { findWarnings } from "../manifest-files/find-warnings.ts";
import {
  MANIFEST_TYPES,
  parseFiles,
  servicesNamedIn,
  type Declarable,
  type ParsedFile,
} from "../manifest-files/parse-files.ts";
import { watchFolder } from "../manifest-files/watch-folder.ts";
import {
  ConfigFile,
  FOLDER_STATUS_ID,
  HealthCheck,
  ManifestStatus,
  RESTART_ANNOTATION,
  Service,
  Supervisor,
  SUPERVISOR_FINALIZER,
  SUPERVISOR_ID,
} from "../resources/index.ts";
import { remove } from "./remove.ts";

/** Says which file a resource comes from. */
const FILE_ANNOTATION = "supervisor.example.dev/file";

type Writable = Declarable | typeof ManifestStatus;
type State = ControllerState<Writable | typeof Supervisor, Writable, typeof Supervisor>;

/**
 * Puts in force what the manifests of a folder declare, and nothing else. It owns those resources: what no manifest
 * declares any more is torn down, and destroyed when its finalizers are gone. When the supervisor is torn down, nothing
 * counts as declared.
 */
export const manifestController = (folder: string) =>
  controller({
    name: SUPERVISOR_FINALIZER,
    inputs: [
      destroyReady(Service),
      destroyReady(HealthCheck),
      destroyReady(ConfigFile),
      strong(Supervisor, SUPERVISOR_ID),
    ],
    outputs: [exclusive(Service), exclusive(HealthCheck), exclusive(ConfigFile), exclusive(ManifestStatus)],
    async run({ state, clock, wakeups, queueReconcile, resetRestartBackoff, signal }) {
      const reader = new FolderReader(folder, clock);
      using _watcher = watchFolder(reader, clock, queueReconcile);
      for await (const _ of wakeups) {
        if (signal.aborted) return;
        const supervisor = await state.getOrNull(Supervisor, SUPERVISOR_ID);
        if (supervisor?.metadata.phase === Phase.running) await reconcileFolder(state, reader);
        else if (await removeEverything(state)) {
          await state.removeFinalizer(Supervisor.ref(SUPERVISOR_ID), SUPERVISOR_FINALIZER);
        }
        resetRestartBackoff();
      }
    },
  });

/** Resolves to true when nothing is left. */
async function removeEverything(state: State): Promise<boolean> {
  await removeAllBut(state, () => false);
  for (const type of MANIFEST_TYPES) if ((await state.list(type)).length > 0) return false;
  return true;
}

async function reconcileFolder(state: State, reader: FolderReader): Promise<void> {
  let files: ParsedFile[];
  try {
    files = await parseFiles(await reader.read());
  } catch (error) {
    // A folder that cannot be read declares nothing to the contrary: all stays as it is.
    const message = `${reader.folder}: ${(error as Error).message}`;
    await state.modify(ManifestStatus, FOLDER_STATUS_ID, () => ({
      problems: [{ severity: "error", message }],
      applied: [],
      kept: [],
    }));
    return;
  }
  const declared = new Set(files.flatMap(({ resources }) => resources.map(keyOf)));
  const spoiled = new Set(files.filter(hasErrors).map(({ name }) => name));
  for (const type of MANIFEST_TYPES) {
    for (const file of files) {
      for (const resource of file.resources) {
        if (resource.metadata.type === type.type) await put(state, type, file.name, resource);
      }
    }
  }
  const kept = await removeAllBut(state, (resource) => {
    if (declared.has(keyOf(resource))) return true;
    // Its document may be the one with the mistake: the last good version stays.
    return spoiled.has(fileOf(resource)) ? "kept" : false;
  });
  await reportFiles(state, files, kept);
}

async function reportFiles(state: State, files: readonly ParsedFile[], kept: readonly Resource[]): Promise<void> {
  const inForce = (await state.list(Service)).filter(({ metadata }) => metadata.phase === Phase.running);
  const services = new Map(inForce.map(({ metadata, spec }) => [metadata.id, spec.dependsOn]));
  const warnings = findWarnings(files, services);
  for (const file of files) {
    await state.modify(ManifestStatus, file.name, () => ({
      problems: [...file.problems, ...(warnings.get(file.name) ?? [])],
      applied: file.resources.map(keyOf).sort(),
      kept: kept.filter((one) => fileOf(one) === file.name).map(keyOf),
    }));
  }
  const present = new Set(files.map(({ name }) => name));
  for (const { metadata } of await state.list(ManifestStatus)) {
    if (!present.has(metadata.id)) await remove(state, ManifestStatus.ref(metadata.id));
  }
}

const hasErrors = ({ problems }: ParsedFile): boolean => problems.some(({ severity }) => severity === "error");

/** `Services/web`: enough to tell declared resources apart, and for people. */
const keyOf = ({ metadata: { type, id } }: Resource): string => `${type.split(".", 1)[0]}/${id}`;

const fileOf = ({ metadata }: Resource): string => metadata.annotations[FILE_ANNOTATION] ?? "";

async function put<R extends Declarable>(state: State, type: R, file: string, resource: Resource): Promise<void> {
  const { id, labels, annotations } = resource.metadata;
  const present = await state.getOrNull(type.ref(id));
  // What is on its way out is declared anew when it is gone.
  if (present !== undefined && present.metadata.phase !== Phase.running) return;
  await state.modify(type, id, (_, draft) => {
    // A restart that was asked for on the command line stays asked for.
    const restarts = Object.entries(draft.annotations).filter(([key]) => key.endsWith(RESTART_ANNOTATION));
    replace(draft.annotations, { ...Object.fromEntries(restarts), ...annotations, [FILE_ANNOTATION]: file });
    replace(draft.labels, labels);
    labelServices(
      draft.labels,
      servicesNamedIn(resource).map(({ name }) => name),
    );
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
      if (verdict === false) await remove(state, type.ref(id));
    }
  }
  return kept;
}
