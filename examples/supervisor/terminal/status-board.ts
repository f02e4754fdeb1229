import { reflect, type Immutable, type State } from "homeostat";
import type { Reflection } from "homeostat/state";

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
  type Describe,
  type Notice,
  type TimedNotice,
} from "./notices.ts";

const MAX_NOTICES = 200;
/** How long the last changes may be on their way. Unit: milliseconds. */
const LAST_NEWS_MS = 500;

/** What is known at present, ready to be shown, with what happened. */
export class StatusBoard {
  #services: Reflection<ServiceStatusSpec> | undefined;
  #manifests: Reflection<ManifestStatusSpec> | undefined;
  #configs: Reflection<ConfigFileStatusSpec> | undefined;
  readonly #notices: TimedNotice[] = [];
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
      await waitUntil(async () => sorted(this.#services).length === 0, LAST_NEWS_MS);
      end.abort();
    };
    signal.addEventListener("abort", () => void onAbort(), { once: true });
    const describeAll = async <Spec>(reflection: Reflection<Spec>, describe: Describe<Spec>) => {
      for await (const changes of reflection) {
        for (const { type, resource, old } of changes) {
          const now = type === "destroyed" ? undefined : resource.spec;
          for (const one of describe(resource.metadata.id, old?.spec, now)) this.note(one);
        }
        onChange();
      }
    };
    try {
      const options = { signal: end.signal };
      await using services = await reflect(state, ServiceStatus, options);
      await using manifests = await reflect(state, ManifestStatus, options);
      await using configs = await reflect(state, ConfigFileStatus, options);
      [this.#services, this.#manifests, this.#configs] = [services, manifests, configs];
      await Promise.all([
        describeAll(services, describeServiceChange),
        describeAll(manifests, describeManifestChange),
        describeAll(configs, describeConfigChange),
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
  get notices(): readonly TimedNotice[] {
    return this.#notices;
  }
}

const sorted = <Spec>(known: Reflection<Spec> | undefined) =>
  [...(known?.contents ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
