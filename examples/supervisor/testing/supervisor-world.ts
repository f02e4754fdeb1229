import { mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { EventType, silentLogger, type Immutable, type ResourceType, type State } from "homeostat";

import { findMarked } from "../process/marker.ts";
import { ManifestStatus, ServiceStatus, type ManifestStatusSpec, type ServiceStatusSpec } from "../resources/index.ts";
import { openSupervisor, type Supervisor } from "../supervisor.ts";

/** How long a test waits for anything; on an idle machine it takes a fraction of a second. Unit: milliseconds. */
export const DEADLINE_MS = 30_000;
/** How long a whole test may take. Unit: milliseconds. */
export const TIMEOUT_MS = 120_000;

/** A folder of manifests in a temporary place. Disposing removes it. */
export class ManifestFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(manifests: Readonly<Record<string, string>> = {}): Promise<ManifestFolder> {
    const folder = new ManifestFolder(await realpath(await mkdtemp(join(tmpdir(), "supervisor-"))));
    for (const [name, text] of Object.entries(manifests)) await folder.write(name, text);
    return folder;
  }

  /** Writes as an editor does: all at once. */
  async write(name: string, text: string): Promise<void> {
    const draft = join(this.path, `.${name}.draft`);
    await writeFile(draft, text);
    await rename(draft, join(this.path, name));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.path, name));
  }

  async read(name: string): Promise<string> {
    return readFile(join(this.path, name), "utf8");
  }

  /** The processes that a supervisor of this folder has started, whether it lives or not. */
  async processes(): Promise<{ service: string; pid: number }[]> {
    const all = await findMarked();
    return all
      .filter(({ records }) => records.startsWith(`${this.path}/`))
      .map(({ service, pid }) => ({ service, pid }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A supervisor in this process, running on a temporary folder. Disposing kills what is left and removes the folder. */
export class SupervisorWorld implements AsyncDisposable {
  readonly folder: ManifestFolder;
  readonly supervisor: Supervisor;
  readonly running: Promise<void>;

  private constructor(folder: ManifestFolder, supervisor: Supervisor) {
    this.folder = folder;
    this.supervisor = supervisor;
    this.running = supervisor.run();
  }

  /** Runs a supervisor that is open already; disposing the world disposes both. */
  static of(folder: ManifestFolder, supervisor: Supervisor): SupervisorWorld {
    return new SupervisorWorld(folder, supervisor);
  }

  static async start(manifests: Readonly<Record<string, string>>): Promise<SupervisorWorld> {
    const folder = await ManifestFolder.create(manifests);
    return new SupervisorWorld(folder, await openSupervisor({ folder: folder.path, logger: silentLogger }));
  }

  get state(): State {
    return this.supervisor.state;
  }

  /** Resolves to the status of a service once it is as wanted. */
  service(
    name: string,
    wanted: (status: Immutable<ServiceStatusSpec>) => boolean,
  ): Promise<Immutable<ServiceStatusSpec>> {
    return waitForSpec(this.state, ServiceStatus, name, wanted);
  }

  /** Resolves to the status of a ready service. */
  ready(name: string): Promise<Immutable<ServiceStatusSpec>> {
    return this.service(name, ({ ready }) => ready);
  }

  /** Resolves to the status of a manifest once it is as wanted. */
  manifest(
    file: string,
    wanted: (status: Immutable<ManifestStatusSpec>) => boolean,
  ): Promise<Immutable<ManifestStatusSpec>> {
    return waitForSpec(this.state, ManifestStatus, file, wanted);
  }

  /** Resolves when there is no status of the service any more. */
  async gone(name: string): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    await this.state.watchFor(ServiceStatus.ref(name), { events: [EventType.destroyed] }, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
    await this.running;
    await this.folder[Symbol.asyncDispose]();
  }
}

/** The spec of a resource as soon as it is as wanted. @throws {Error} with the last one seen, after the deadline. */
async function waitForSpec<Spec>(
  state: State,
  type: ResourceType<Spec, string, never>,
  id: string,
  wanted: (spec: Immutable<Spec>) => boolean,
): Promise<Immutable<Spec>> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    await using watch = await state.watch(type.ref(id), { signal });
    for await (const event of watch) {
      if (event.type !== EventType.created && event.type !== EventType.updated) continue;
      if (wanted(event.resource.spec)) return event.resource.spec;
    }
    throw new Error("the watch ended");
  } catch (error) {
    const last = (await state.getOrNull(type.ref(id)))?.spec;
    throw new Error(`${type.type}/${id} is not as wanted; it is ${JSON.stringify(last, null, 2)}`, { cause: error });
  }
}

/** A manifest of a service. */
export function serviceManifest(id: string, spec: Readonly<Record<string, unknown>>): string {
  return manifest("Service", id, spec);
}

/** A manifest of anything. JSON is YAML. */
export function manifest(type: string, id: string, spec: Readonly<Record<string, unknown>>): string {
  return `---\nmetadata: { type: ${type}, id: ${id} }\nspec: ${JSON.stringify(spec)}\n`;
}
