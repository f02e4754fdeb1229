import { EventType, type Event, type Immutable, type ResourceType, type State } from "homeostat";

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

type Known<Spec> = ReadonlyMap<string, Immutable<Spec>>;

/** What is known at present, ready to be shown, with what happened. */
export class StatusBoard {
  readonly #services = new Map<string, Immutable<ServiceStatusSpec>>();
  readonly #manifests = new Map<string, Immutable<ManifestStatusSpec>>();
  readonly #configs = new Map<string, Immutable<ConfigFileStatusSpec>>();
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
    const follow = <Spec>(
      type: ResourceType<Spec, string, never>,
      known: Map<string, Immutable<Spec>>,
      describe: (name: string, before: Immutable<Spec> | undefined, now: Immutable<Spec> | undefined) => Notice[],
    ) =>
      followType(state, type, known, end.signal, (name, before, now) => {
        for (const one of describe(name, before, now)) this.note(one);
        onChange();
      });
    try {
      await Promise.all([
        follow(ServiceStatus, this.#services, describeServiceChange),
        follow(ManifestStatus, this.#manifests, describeManifestChange),
        follow(ConfigFileStatus, this.#configs, describeConfigChange),
      ]);
    } catch (error) {
      if (!end.signal.aborted) throw error;
    }
  }

  /** By name. */
  get services(): { readonly name: string; readonly status: Immutable<ServiceStatusSpec> }[] {
    return sorted(this.#services).map(([name, status]) => ({ name, status }));
  }

  /** Mistakes in manifests by file, then config files that cannot be written. */
  get problems(): string[] {
    return [
      ...sorted(this.#manifests).flatMap(([file, { problems }]) => problems.map((one) => formatProblem(file, one))),
      ...sorted(this.#configs).flatMap(([name, { error }]) => (error === "" ? [] : [`config file ${name}: ${error}`])),
    ];
  }

  /** Oldest first. */
  get notices(): readonly (Notice & { readonly at: Date })[] {
    return this.#notices;
  }
}

const sorted = <Spec>(known: Known<Spec>) => [...known].sort(([a], [b]) => (a < b ? -1 : 1));

/** Keeps `known` current and calls `onChange` for each change; what exists already counts as new. Ends by throwing. */
async function followType<Spec>(
  state: State,
  type: ResourceType<Spec, string, never>,
  known: Map<string, Immutable<Spec>>,
  signal: AbortSignal,
  onChange: (id: string, before: Immutable<Spec> | undefined, now: Immutable<Spec> | undefined) => void,
): Promise<void> {
  // After a resync, what has not come again by its end is gone.
  let missing: Set<string> | undefined;
  const set = (id: string, now: Immutable<Spec> | undefined) => {
    const before = known.get(id);
    missing?.delete(id);
    if (now === undefined) known.delete(id);
    else known.set(id, now);
    onChange(id, before, now);
  };
  const take = (event: Event<Spec>): void => {
    switch (event.type) {
      case EventType.created:
      case EventType.updated:
        return set(event.resource.metadata.id, event.resource.spec);
      case EventType.destroyed:
        return set(event.resource.metadata.id, undefined);
      case EventType.resynced:
        missing = new Set(known.keys());
        return;
      case EventType.bootstrapped:
        for (const id of missing ?? []) set(id, undefined);
        missing = undefined;
        return;
      case EventType.errored:
        throw event.error;
      case EventType.noop:
    }
  };
  await using watch = await state.watchKind(type, { bootstrap: true, signal });
  for await (const event of watch) take(event);
}
