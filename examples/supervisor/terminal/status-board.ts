import { reflect, type Immutable, type Resource, type ResourceType, type State } from "homeostat";

import { waitUntil } from "../process/wait-until.ts";
import {
  ConfigFileStatus,
  ManifestStatus,
  ServiceStatus,
  type ConfigFileStatusSpec,
  type ManifestStatusSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";
import {
  describeConfigChange,
  describeManifestChange,
  describeServiceChange,
  formatProblem,
  type Notice,
} from "./notices.ts";

const MAX_NOTICES = 200;
/** How long the last changes may be on their way. Unit: milliseconds. */
const LAST_NEWS_MS = 500;

type Known<Spec> = ReadonlyMap<string, Resource<Spec>>;

/** What is known at present, ready to be shown, with what happened. */
export class StatusBoard {
  #services: Known<ServiceStatusSpec> = new Map();
  #manifests: Known<ManifestStatusSpec> = new Map();
  #configs: Known<ConfigFileStatusSpec> = new Map();
  readonly #notices: (Notice & { readonly at: Date })[] = [];
  /** Called for each notice. */
  readonly #onNotice: (notice: Notice) => void;

  constructor(onNotice: (notice: Notice) => void) {
    this.#onNotice = onNotice;
  }

  note(notice: Notice): void {
    this.#notices.push({ ...notice, at: new Date() });
    if (this.#notices.length > MAX_NOTICES) this.#notices.shift();
    this.#onNotice(notice);
  }

  /**
   * Follows the state until the signal aborts, and then for as long as services are known whose end is on its way here.
   *
   * @param onChange - Called after each change.
   */
  async follow(state: State, onChange: () => void, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    const onAbort = async () => {
      await waitUntil(async () => this.#services.size === 0, LAST_NEWS_MS);
      end.abort();
    };
    signal.addEventListener("abort", () => void onAbort(), { once: true });
    const follow = async <Spec>(
      type: ResourceType<Spec, string, never>,
      use: (known: Known<Spec>) => void,
      describe: (name: string, before: Immutable<Spec> | undefined, now: Immutable<Spec> | undefined) => Notice[],
    ) => {
      await using reflection = await reflect(state, type, { signal: end.signal });
      for await (const changes of reflection) {
        use(reflection.contents);
        for (const { type: kind, resource, old } of changes) {
          const now = kind === "destroyed" ? undefined : resource.spec;
          for (const one of describe(resource.metadata.id, old?.spec, now)) this.note(one);
        }
        onChange();
      }
    };
    try {
      await Promise.all([
        follow(ServiceStatus, (known) => (this.#services = known), describeServiceChange),
        follow(ManifestStatus, (known) => (this.#manifests = known), describeManifestChange),
        follow(ConfigFileStatus, (known) => (this.#configs = known), describeConfigChange),
      ]);
    } catch (error) {
      if (!end.signal.aborted) throw error;
    }
  }

  /** By name. */
  get services(): { readonly name: string; readonly status: Immutable<ServiceStatusSpec> }[] {
    return sorted(this.#services).map(([name, { spec }]) => ({ name, status: spec }));
  }

  /** Mistakes in manifests by file, then config files that cannot be written. */
  get problems(): string[] {
    return [
      ...sorted(this.#manifests).flatMap(([file, { spec }]) => spec.problems.map((one) => formatProblem(file, one))),
      ...sorted(this.#configs).flatMap(([name, { spec }]) =>
        spec.error === "" ? [] : [`config file ${name}: ${spec.error}`],
      ),
    ];
  }

  /** Oldest first. */
  get notices(): readonly (Notice & { readonly at: Date })[] {
    return this.#notices;
  }
}

const sorted = <Spec>(known: Known<Spec>) => [...known].sort(([a], [b]) => (a < b ? -1 : 1));
