import {
  controller,
  destroyReady,
  exclusive,
  Phase,
  requeueAfter,
  strong,
  type ControllerState,
  type Resource,
  type SpecOf,
} from "homeostat";

import { labelServices } from "../logic/service-labels.ts";
import { findWarnings } from "../manifest-files/find-warnings.ts";
import type { FolderReader } from "../manifest-files/folder-reader.ts";
import {
  MANIFEST_TYPES,
  parseFiles,
  servicesNamedIn,
  type Declarable,
  type ParsedFile,
} from "../manifest-files/parse-files.ts";
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

/** Says which file a resource comes from. */
const FILE_ANNOTATION = "supervisor.example.dev/file";
/** How often the folder is looked at. Unit: milliseconds. */
const POLL_MS = 250;
/** How often it is asked whether everything has gone. Unit: milliseconds. */
const STOPPING_POLL_MS = 50;
/** Services first, so that they do not restart for a file or check that goes with them. */
const REMOVED_IN_ORDER = MANIFEST_TYPES.toReversed();

type Writable = Declarable | typeof ManifestStatus;
type State = Pick<ControllerState<Writable, Writable>, "getOrNull" | "list" | "modify">;

/**
 * Puts in force what the manifests of a folder declare, and nothing else. It owns those resources: what no manifest
 * declares any more is torn down, and destroyed when its finalizers are gone. When the supervisor is torn down, nothing
 * counts as declared.
 */
export function manifestController(folder: FolderReader) {
  /** What the folder declares, or why it cannot be read. */
  let declared: readonly ParsedFile[] | Error = [];
  /** The versions of all that there is, when nothing is left to do: looking at the folder is cheap then. */
  let settled: string | undefined;
  return controller({
    name: SUPERVISOR_FINALIZER,
    inputs: [
      destroyReady(Service),
      destroyReady(HealthCheck),
      destroyReady(ConfigFile),
      strong(Supervisor, SUPERVISOR_ID),
    ],
    outputs: [exclusive(Service), exclusive(HealthCheck), exclusive(ConfigFile), exclusive(ManifestStatus)],
    async reconcile({ state, trackOutputs }) {
      const supervisor = await state.getOrNull(Supervisor, SUPERVISOR_ID);
      if (supervisor?.metadata.phase !== Phase.running) {
        trackOutputs(...REMOVED_IN_ORDER);
        const left = await Promise.all(MANIFEST_TYPES.map((type) => state.list(type)));
        if (left.some((resources) => resources.length > 0)) return requeueAfter(STOPPING_POLL_MS);
        return supervisor && state.removeFinalizer(Supervisor.ref(SUPERVISOR_ID), SUPERVISOR_FINALIZER);
      }
      if (await folder.changed()) {
        declared = await readFolder(folder);
        settled = undefined;
      }
      const present = await listAll(state);
      const versions = present.map(versionOf).join();
      if (versions === settled) return requeueAfter(POLL_MS);
      if (declared instanceof Error) {
        // A folder that cannot be read declares nothing to the contrary: all stays as it is.
        await report(state, FOLDER_STATUS_ID, {
          problems: [{ severity: "error", message: `${folder.path}: ${declared.message}` }],
        });
      } else {
        trackOutputs(...REMOVED_IN_ORDER, ManifestStatus);
        const wanted = await putInForce(state, declared);
        // Otherwise something has still to go.
        if (present.length === wanted) settled = versions;
      }
      return requeueAfter(POLL_MS);
    },
  });
}

/** What the folder declares, or why it cannot be read. */
const readFolder = async (folder: FolderReader): Promise<readonly ParsedFile[] | Error> => {
  try {
    return await parseFiles(await folder.read());
  } catch (error) {
    return error as Error;
  }
};

/** All that this controller has written. */
async function listAll(state: State): Promise<readonly Resource[]> {
  const lists = await Promise.all([...REMOVED_IN_ORDER, ManifestStatus].map((type) => state.list(type)));
  return lists.flat();
}

const versionOf = ({ metadata: { type, id, created, version } }: Resource) => `${type} ${id} ${created} ${version}`;

/**
 * Writes what is declared, and what is kept; the rest goes, since it is not written. Resolves to the number of resources
 * that stay.
 */
async function putInForce(state: State, files: readonly ParsedFile[]): Promise<number> {
  const declared = files.flatMap(({ name, resources }) => resources.map((resource) => ({ name, resource })));
  const kept = await findKept(state, files);
  const inForce = [...declared, ...kept];
  for (const type of MANIFEST_TYPES) {
    for (const { name, resource } of inForce) {
      if (resource.metadata.type === type.type) await put(state, type, name, resource);
    }
  }
  const warnings = findWarnings(
    files,
    inForce.map(({ resource }) => resource),
  );
  for (const { name, resources, problems } of files) {
    await report(state, name, {
      problems: [...problems, ...(warnings.get(name) ?? [])],
      applied: resources.map(keyOf).sort(),
      kept: kept.filter((one) => one.name === name).map(({ resource }) => keyOf(resource)),
    });
  }
  return inForce.length + files.length;
}

const report = (state: State, id: string, status: Partial<SpecOf<typeof ManifestStatus>>) =>
  state.modify(ManifestStatus, id, () => ({ problems: [], applied: [], kept: [], ...status }));

/** The last good versions of what stands in a file with a mistake: its document may be the one with the mistake. */
async function findKept(state: State, files: readonly ParsedFile[]): Promise<{ name: string; resource: Resource }[]> {
  const declared = new Set(files.flatMap(({ resources }) => resources.map(keyOf)));
  const spoiled = files.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const names = new Set(spoiled.map(({ name }) => name));
  return (await listAll(state)).flatMap((resource) => {
    const { phase, annotations } = resource.metadata;
    const name = annotations[FILE_ANNOTATION] ?? "";
    return phase === Phase.running && names.has(name) && !declared.has(keyOf(resource)) ? [{ name, resource }] : [];
  });
}

/** `Services/web`: enough to tell declared resources apart, and for people. */
const keyOf = ({ metadata: { type, id } }: Resource): string => `${type.split(".", 1)[0]}/${id}`;

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
