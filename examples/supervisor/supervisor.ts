import { mkdir, realpath } from "node:fs/promises";
import { platform } from "node:os";
import { join, resolve } from "node:path";

import {
  describeTypes,
  EventType,
  MemoryState,
  Runtime,
  SystemClock,
  type AnyResourceType,
  type Clock,
  type Logger,
  type State,
} from "homeostat";

import { configFileController } from "./controllers/config-file-controller.ts";
import { healthController } from "./controllers/health-controller.ts";
import { manifestController } from "./controllers/manifest-controller.ts";
import { processController } from "./controllers/process-controller.ts";
import { serviceController } from "./controllers/service-controller.ts";
import { lockDirectory } from "./process/directory-lock.ts";
import { stopLeftovers, type Leftover } from "./process/leftovers.ts";
import type { LogTarget } from "./process/log-file.ts";
import { encodeMarker, MARKER, MarkedSearch } from "./process/marker.ts";
import { ProcessRecords } from "./process/process-records.ts";
import { ProcessTable } from "./process/process-table.ts";
import {
  ConfigFile,
  ConfigFileStatus,
  HealthCheck,
  HealthStatus,
  ManifestStatus,
  Process,
  ProcessStatus,
  Service,
  ServiceStatus,
  SUPERVISOR_GOAL_ID,
  SupervisorGoal,
  SupervisorStatus,
} from "./resources/index.ts";

export interface SupervisorOptions {
  /** Folder of the manifests. */
  readonly folder: string;
  /** Folder for logs and records. Default: `.homeostat` in the folder of the manifests. */
  readonly stateFolder?: string | undefined;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Called for each service of a dead supervisor, before what is left of it is stopped. */
  readonly onLeftover?: ((leftover: Leftover) => void) | undefined;
  /** When it aborts, what is left of a dead supervisor is killed without patience. */
  readonly force?: AbortSignal | undefined;
  /** How logs are opened. Default: as files. */
  readonly openLog?: ((path: string) => Promise<LogTarget>) | undefined;
}

const TYPES = [
  Service,
  ServiceStatus,
  Process,
  ProcessStatus,
  HealthCheck,
  HealthStatus,
  ConfigFile,
  ConfigFileStatus,
  ManifestStatus,
  SupervisorGoal,
  SupervisorStatus,
];

/** A control plane that keeps the processes of one folder of manifests. Make it with {@link openSupervisor}. */
export interface Supervisor extends AsyncDisposable {
  readonly state: State;
  /** The types of its resources. */
  readonly types: readonly AnyResourceType[];
  /** Absolute paths. */
  readonly folder: string;
  readonly stateFolder: string;
  /** Keeps what is declared until {@link stop} has done its work. @throws {Error} when the runtime fails. */
  run(): Promise<void>;
  /** Stops all services in order; {@link run} then resolves. */
  stop(): Promise<void>;
  /** Kills all processes at once. */
  kill(): void;
}

/**
 * Takes the folder, and stops what a supervisor that was killed left running.
 *
 * @throws {DirectoryLockedError} when another supervisor works there. @throws {Error} when the folder cannot be used.
 */
export async function openSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  if (platform() === "win32") throw new Error("processes are kept in process groups, which Windows does not have");
  const { logger, clock = new SystemClock(), onLeftover = () => {}, openLog, force } = options;
  const folder = await realpath(options.folder);
  const wantedStateFolder = options.stateFolder ?? join(folder, ".homeostat");
  await mkdir(wantedStateFolder, { recursive: true });
  const stateFolder = await realpath(wantedStateFolder);

  await using owned = new AsyncDisposableStack();
  const [locks = "", processes = "", logs = ""] = ["lock", "processes", "logs"].map((name) => join(stateFolder, name));
  for (const path of [locks, processes, logs]) await mkdir(path, { recursive: true });
  owned.use(await lockDirectory(locks));

  const records = new ProcessRecords(processes);
  await stopLeftovers(records, { onFound: onLeftover, force });

  const state = owned.use(new MemoryState({ types: TYPES, clock }));
  await describeTypes(state, TYPES, new Map([["default", "What the supervisor keeps."]]));
  await state.create(SupervisorGoal.create(SUPERVISOR_GOAL_ID, { wanted: "running" }));
  const resolvePath = (path: string) => resolve(folder, path);
  const table = owned.use(
    new ProcessTable({
      records,
      search: new MarkedSearch(),
      clock,
      logPath: (service) => join(logs, `${service}.log`),
      folder: resolvePath,
      openLog,
    }),
  );
  const runtime = new Runtime(state, {
    controllers: [
      manifestController(folder),
      configFileController(folder),
      serviceController,
      processController(table),
      healthController({
        surroundings: (service, env, cwd) => ({
          cwd: resolvePath(cwd),
          env: {
            ...process.env,
            ...env,
            [MARKER]: encodeMarker({ records: records.folder, service, token: "health" }),
          },
        }),
      }),
    ],
    logger,
    clock,
  });
  const everything = owned.move();
  const end = new AbortController();
  let running: Promise<void> | undefined;

  return {
    state,
    types: TYPES,
    folder,
    stateFolder,
    run() {
      running ??= runtime.run({ signal: end.signal });
      return running;
    },
    async stop() {
      await state.modify(SupervisorGoal, SUPERVISOR_GOAL_ID, (goal) => {
        goal.wanted = "stopped";
      });
      try {
        await state.watchFor(
          SupervisorStatus.ref(SUPERVISOR_GOAL_ID),
          { events: [EventType.created, EventType.updated], where: ({ spec }) => spec.phase === "stopped" },
          { signal: end.signal },
        );
      } catch (error) {
        if (!end.signal.aborted) throw error;
      }
      end.abort();
    },
    kill: () => table.killAll(),
    async [Symbol.asyncDispose]() {
      end.abort();
      await running?.catch(() => {}); // Whoever called run() has the error.
      await everything.disposeAsync();
    },
  };
}
