import { mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { EventType, MemoryState, silentLogger, type Immutable, type ResourceType, type State } from "homeostat";

import { findMarked } from "../process/mark.ts";
import { ManifestStatus, ServiceStatus, type ManifestStatusSpec, type ServiceStatusSpec } from "../resources/index.ts";
import { openSupervisor, TYPES, type SupervisorOptions } from "../supervisor.ts";

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

  /** The processes that a supervisor of this folder has started, whether it lives or not; by service where that is known. */
  async processes(): Promise<{ service: string; pid: number }[]> {
    const folder = join(this.path, ".homeostat", "processes");
    const all = await findMarked(folder);
    const names = new Map<string, string>();
    for (const file of await readdir(folder).catch(() => [])) {
      const text = file.endsWith(".json") ? await readFile(join(folder, file), "utf8").catch(() => "") : "";
      const { mark, service } = (text === "" ? {} : JSON.parse(text)) as Record<string, string>;
      names.set(mark ?? "", service ?? "");
    }
    return all.map(({ number, service, pid }) => ({ service: service ?? names.get(String(number)) ?? "?", pid }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** What watches it sees the end, although the control plane disposes it right then. */
class LastingState extends MemoryState {
  override async [Symbol.asyncDispose](): Promise<void> {}

  async end(): Promise<void> {
    await super[Symbol.asyncDispose]();
  }
}

/** A supervisor in this process, running on a temporary folder. Disposing kills what is left and removes the folder. */
export class SupervisorWorld implements AsyncDisposable {
  readonly folder: ManifestFolder;
  readonly state: LastingState;
  /** Folder of logs and records. */
  readonly stateFolder: string;
  /** Resolves when it has stopped. */
  readonly running: Promise<void>;
  readonly #stop: AbortController;
  readonly #kill: () => void;

  private constructor(
    folder: ManifestFolder,
    state: LastingState,
    stop: AbortController,
    running: Promise<void>,
    kill: () => void,
  ) {
    this.folder = folder;
    this.state = state;
    this.stateFolder = join(folder.path, ".homeostat");
    this.running = running;
    this.#stop = stop;
    this.#kill = kill;
  }

  static async start(
    manifests: Readonly<Record<string, string>> | ManifestFolder,
    options: Partial<SupervisorOptions> = {},
  ): Promise<SupervisorWorld> {
    const folder = manifests instanceof ManifestFolder ? manifests : await ManifestFolder.create(manifests);
    const state = new LastingState({ types: TYPES });
    const ignore = () => {};
    const { plane, kill } = await openSupervisor({
      folder: folder.path,
      state: () => state,
      onFound: ignore,
      onUncertain: ignore,
      ...options,
    });
    const stop = new AbortController();
    const running = plane.run({ signal: stop.signal, logger: silentLogger, stopTimeoutMs: Infinity });
    return new SupervisorWorld(folder, state, stop, running, kill);
  }

  /** Stops all services in order. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.running;
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
    this.#stop.abort();
    // What ignores its signal would take its grace time.
    const killing = setInterval(this.#kill, 50);
    await this.running.finally(() => clearInterval(killing));
    await this.state.end();
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
