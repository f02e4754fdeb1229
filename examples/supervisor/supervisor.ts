import { mkdir, realpath, stat } from "node:fs/promises";
import { platform } from "node:os";
import { join, resolve } from "node:path";

import { defineControlPlane, type Clock, type ControlPlane, type State } from "homeostat";
import { SystemClock } from "homeostat/clock";
import type { PlaneTask } from "homeostat/plane";

import { configFileController } from "./controllers/config-file-controller.ts";
import { healthController } from "./controllers/health-controller.ts";
import { manifestController } from "./controllers/manifest-controller.ts";
import { processController } from "./controllers/process-controller.ts";
import { serviceController } from "./controllers/service-controller.ts";
import { FolderReader } from "./manifest-files/folder-reader.ts";
import { lockDirectory } from "./process/directory-lock.ts";
import { MarkedSearch } from "./process/mark.ts";
import { stopOrphans, type OrphanOptions } from "./process/orphans.ts";
import { ProcessRecords } from "./process/process-records.ts";
import { ProcessTable } from "./process/process-table.ts";
import * as types from "./resources/index.ts";
import { Supervisor, SUPERVISOR_FINALIZER, SUPERVISOR_ID } from "./resources/index.ts";

/** The types of its resources. */
export const TYPES = [
  types.Service,
  types.ServiceStatus,
  types.Process,
  types.ProcessStatus,
  types.HealthCheck,
  types.HealthStatus,
  types.ConfigFile,
  types.ConfigFileStatus,
  types.ManifestStatus,
  types.Supervisor,
];

export interface SupervisorOptions extends OrphanOptions {
  /** Folder of the manifests. */
  readonly folder: string;
  /** Folder for logs and records. Default: `.homeostat` in the folder of the manifests. */
  readonly stateFolder?: string | undefined;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Opens the State. Default: one in memory. */
  readonly state?: (() => State) | undefined;
  /** Activities beside the controllers. Default: none. */
  readonly tasks?: readonly PlaneTask[] | undefined;
}

/** A control plane that keeps the processes of one folder of manifests. */
export interface SupervisorPlane {
  readonly plane: ControlPlane;
  /** Absolute. */
  readonly folder: string;
  readonly logs: string;
  /** Kills all processes at once. */
  kill(this: void): void;
}

/**
 * Prepares the folders. When the control plane then runs, it takes them for itself, and stops what a supervisor that was
 * killed left running; asked to stop, it stops all services in order.
 *
 * @throws {Error} when a folder cannot be used.
 */
export async function openSupervisor(options: SupervisorOptions): Promise<SupervisorPlane> {
  if (platform() === "win32") throw new Error("processes are kept in process groups, which Windows does not have");
  const { clock = new SystemClock(), state, tasks, ...orphanOptions } = options;
  // As it was named: what a symbolic link leads to may change.
  const folder = resolve(options.folder);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => undefined,
  );
  if (isFolder !== true)
    throw new Error(isFolder === undefined ? `there is no folder ${folder}` : `${folder} is not a folder`);
  const wanted = options.stateFolder ?? join(folder, ".homeostat");
  await mkdir(wanted, { recursive: true });
  const stateFolder = await realpath(wanted);
  const makeFolder = async (name: string) => {
    await mkdir(join(stateFolder, name), { recursive: true });
    return join(stateFolder, name);
  };
  const [locks, processes, logs] = [await makeFolder("lock"), await makeFolder("processes"), await makeFolder("logs")];

  const records = new ProcessRecords(processes);
  const logPath = (service: string) => join(logs, `${service}.log`);
  const table = new ProcessTable({ records, search: new MarkedSearch(processes), clock, logPath, folder });
  const plane = defineControlPlane({
    state,
    resources: TYPES,
    namespaces: { default: "What the supervisor keeps." },
    controllers: [
      manifestController(new FolderReader(folder, clock)),
      configFileController(folder),
      serviceController,
      processController(table),
      healthController(folder, processes),
    ],
    runtime: { clock },
    tasks,
    async onStart({ state: opened, defer }) {
      const lock = await lockDirectory(locks);
      defer(() => lock[Symbol.dispose]());
      await stopOrphans(records, orphanOptions);
      defer(() => table[Symbol.asyncDispose]());
      const init = { finalizers: [SUPERVISOR_FINALIZER] };
      await opened.create(Supervisor.create(SUPERVISOR_ID, { folder, logs }, init));
    },
    onStop: ({ state: opened, signal }) => opened.teardownAndDestroy(Supervisor.ref(SUPERVISOR_ID), { signal }),
  });
  return { plane, folder, logs, kill: () => table.killAll() };
}
