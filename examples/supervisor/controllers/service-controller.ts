import {
  exclusive,
  mapped,
  Phase,
  queueController,
  requeueAfter,
  type ControllerState,
  type Immutable,
  type QueueController,
  type Ref,
  type Resource,
} from "homeostat";

import { planService } from "../logic/service-plan.ts";
import { viewService, type Declared, type World } from "../logic/service-view.ts";
import {
  ConfigFile,
  ConfigFileStatus,
  HealthCheck,
  HealthStatus,
  Process,
  ProcessStatus,
  Service,
  ServiceStatus,
  type ServiceSpec,
} from "../resources/index.ts";
import { servicesInLabels } from "./service-labels.ts";

/** Keeps a service until its process has ended, and those of its dependants before. */
const FINALIZER = "ServiceController";

type Readable =
  | typeof Service
  | typeof ServiceStatus
  | typeof Process
  | typeof ProcessStatus
  | typeof HealthCheck
  | typeof HealthStatus
  | typeof ConfigFile
  | typeof ConfigFileStatus;

/** Decides which processes should run, in which order they start and stop, and says where each service stands. */
export const serviceController: QueueController = queueController({
  name: "ServiceController",
  primary: Service,
  inputs: [
    mapped(ProcessStatus, (status) => [Service.ref(status.id)]),
    mapped(HealthStatus, (status) => servicesInLabels(status.labels)),
    mapped(ConfigFileStatus, (status) => servicesInLabels(status.labels)),
    // These may concern services that they do not name any more.
    mapped(HealthCheck),
    mapped(ConfigFile),
    mapped(ServiceStatus),
  ],
  outputs: [exclusive(ServiceStatus), exclusive(Process)],
  concurrency: 16,
  async reconcile({ ref, state, clock }) {
    const { id } = ref;
    const service = await state.getOrNull(ref);
    if (service === undefined) return;
    if (service.metadata.phase === Phase.running) await state.addFinalizer(ref, FINALIZER);
    // It is done with already.
    else if (!service.metadata.finalizers.includes(FINALIZER)) return;

    const { spec, metadata } = service;
    const declared = { spec, removed: metadata.phase !== Phase.running };
    const plan = planService(viewService(await readWorld(state), id, declared, clock.now()));
    // The status first: it tells dependants to stop before the process is asked to.
    await state.modify(ServiceStatus, id, () => plan.status);
    const { process } = plan;
    if (process !== undefined) await state.modify(Process, id, () => process);
    if (plan.finished === true) {
      await forget(state, Process.ref(id));
      await forget(state, ServiceStatus.ref(id));
      await state.removeFinalizer(ref, FINALIZER);
      return;
    }
    if (plan.againInMs !== undefined) return requeueAfter(plan.againInMs);
  },
  /** Those that depend on the changed one, those that it depends on, and those that may be waiting for it to stop. */
  async mapInput({ input, state }) {
    const services = await state.list(Service);
    if (input.type !== ServiceStatus.type) return services.map(refOf);
    const own = services.find(({ metadata }) => metadata.id === input.id);
    if (own === undefined) return services.map(refOf);
    const statuses = await state.list(ServiceStatus);
    const stopping = new Set(
      statuses.filter(({ spec }) => spec.state === "stopping").map(({ metadata }) => metadata.id),
    );
    return services
      .filter(
        ({ metadata, spec }) =>
          spec.dependsOn.includes(input.id) ||
          own.spec.dependsOn.includes(metadata.id) ||
          (stopping.has(metadata.id) && metadata.id !== input.id),
      )
      .map(refOf);
  },
});

const refOf = ({ metadata }: Resource): Ref<ServiceSpec, typeof Service.type> => Service.ref(metadata.id);

async function forget(
  state: ControllerState<Readable, typeof Process | typeof ServiceStatus>,
  ref: Ref<unknown, typeof Process.type | typeof ServiceStatus.type>,
): Promise<void> {
  if ((await state.getOrNull(ref)) === undefined) return;
  await state.teardown(ref);
  await state.destroy(ref);
}

async function readWorld(state: Pick<ControllerState<Readable>, "list">): Promise<World> {
  return {
    services: declarations(await state.list(Service)),
    statuses: specs(await state.list(ServiceStatus)),
    processes: specs(await state.list(Process)),
    actual: specs(await state.list(ProcessStatus)),
    configs: declarations(await state.list(ConfigFile)),
    configStatuses: specs(await state.list(ConfigFileStatus)),
    checks: declarations(await state.list(HealthCheck)),
    healthStatuses: specs(await state.list(HealthStatus)),
  };
}

function specs<Spec>(list: readonly Resource<Spec>[]): ReadonlyMap<string, Immutable<Spec>> {
  return new Map(list.map(({ metadata, spec }) => [metadata.id, spec]));
}

function declarations<Spec>(list: readonly Resource<Spec>[]): ReadonlyMap<string, Declared<Spec>> {
  return new Map(list.map(({ metadata, spec }) => [metadata.id, { spec, removed: metadata.phase !== Phase.running }]));
}
