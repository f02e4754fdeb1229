import {
  exclusive,
  mapped,
  Phase,
  queueController,
  requeueAfter,
  type ControllerState,
  type QueueController,
  type Ref,
  type Resource,
} from "homeostat";

import { dependenciesOf, findCycle, type DependencyGraph } from "../logic/dependency-graph.ts";
import { planService } from "../logic/service-plan.ts";
import { configInputs, isOccupied, type ServiceView } from "../logic/service-view.ts";
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

    const plan = planService(await viewService(state, service, clock.now()));
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

async function viewService(
  state: Pick<ControllerState<Readable>, "list">,
  service: Resource<ServiceSpec>,
  nowMs: number,
): Promise<ServiceView> {
  const { id } = service.metadata;
  const services = byId(await state.list(Service));
  const statuses = byId(await state.list(ServiceStatus));
  const processes = byId(await state.list(Process));
  const actual = byId(await state.list(ProcessStatus));
  const configStatuses = byId(await state.list(ConfigFileStatus));
  const healthStatuses = byId(await state.list(HealthStatus));
  const graph: DependencyGraph = new Map(Array.from(services, ([name, { spec }]) => [name, spec.dependsOn]));
  const specs = new Map(Array.from(services, ([name, { spec }]) => [name, spec]));

  return {
    id,
    nowMs,
    spec: service.spec,
    removed: service.metadata.phase !== Phase.running,
    status: statuses.get(id)?.spec,
    process: processes.get(id)?.spec,
    actual: actual.get(id)?.spec,
    cycle: findCycle(graph, id),
    dependencies: service.spec.dependsOn.map((name) => {
      const dependency = services.get(name);
      return {
        name,
        declared: dependency !== undefined,
        removed: dependency !== undefined && dependency.metadata.phase !== Phase.running,
        status: statuses.get(name)?.spec,
      };
    }),
    dependants: [...services.values()]
      .filter(({ spec }) => spec.dependsOn.includes(id))
      .map(({ metadata: { id: name }, spec }) => ({
        name,
        alive: isOccupied(processes.get(name)?.spec, actual.get(name)?.spec),
        restartsWith: spec.restartWithDependencies,
        inCycle: name === id || dependenciesOf(graph, id).has(name),
      })),
    configs: (await state.list(ConfigFile))
      .filter(({ metadata, spec }) => metadata.phase === Phase.running && spec.restarts.includes(id))
      .map(({ metadata: { id: name }, spec }) => {
        const status = configStatuses.get(name)?.spec;
        const settled = status?.inputs === configInputs(spec, specs);
        return { name, settled, digest: status?.digest ?? "", error: status?.error ?? "" };
      }),
    checks: (await state.list(HealthCheck))
      .filter(({ metadata, spec }) => metadata.phase === Phase.running && spec.service === id)
      .map(({ metadata: { id: name }, spec }) => {
        const status = healthStatuses.get(name)?.spec;
        const known = status?.service === id ? status : undefined;
        const { run = 0, health = "unknown", message = "" } = known ?? {};
        return { name, run, health, message, restart: spec.onUnhealthy === "restart" };
      }),
  };
}

function byId<R extends Resource>(list: readonly R[]): ReadonlyMap<string, R> {
  return new Map(list.map((resource) => [resource.metadata.id, resource]));
}
