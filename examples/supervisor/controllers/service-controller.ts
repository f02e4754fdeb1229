import { exclusive, mapped, Phase, queueController, requeueAfter } from "homeostat";
import { removeOutput, sameId } from "homeostat/controller";

import { concerning, labelServices, servicesInLabels } from "../logic/service-labels.ts";
import { planService } from "../logic/service-plan.ts";
import { readServiceView } from "../logic/service-view.ts";
import {
  ConfigFile,
  ConfigFileStatus,
  HealthCheck,
  HealthStatus,
  Process,
  ProcessStatus,
  Service,
  ServiceStatus,
} from "../resources/index.ts";

/** Keeps a service until its process has ended, and those of its dependants before. */
const FINALIZER = "ServiceController";

const toServices = ({ labels }: { readonly labels: Readonly<Record<string, string>> }) => servicesInLabels(labels);

/** Decides which processes should run, in which order they start and stop, and says where each service stands. */
export const serviceController = queueController({
  name: "ServiceController",
  primary: Service,
  inputs: [
    mapped(ProcessStatus, sameId(Service)),
    mapped(HealthStatus, toServices),
    mapped(ConfigFileStatus, toServices),
    mapped(HealthCheck, toServices),
    mapped(ConfigFile, toServices),
    mapped(ServiceStatus),
  ],
  outputs: [exclusive(ServiceStatus), exclusive(Process)],
  concurrency: 16,
  async reconcile({ ref, state, clock }) {
    const { id } = ref;
    const service = await state.getOrNull(ref);
    if (service === undefined) return;
    const { phase, finalizers } = service.metadata;
    if (phase === Phase.running) await state.addFinalizer(ref, FINALIZER);
    // It is done with already.
    else if (!finalizers.includes(FINALIZER)) return;

    const { status, process, finished, againInMs } = planService(await readServiceView(state, service, clock.now()));
    // The status first: it makes dependants stop before the process is asked to.
    await state.modify(ServiceStatus, id, (_, { labels }) => {
      labelServices(labels, status.dependsOn);
      return status;
    });
    if (process !== undefined) await state.modify(Process, id, () => process);
    if (finished === true) {
      await removeOutput(state, Process.ref(id));
      await removeOutput(state, ServiceStatus.ref(id));
      await state.removeFinalizer(ref, FINALIZER);
    } else if (againInMs !== undefined) return requeueAfter(againInMs);
  },
  /** Those that depend on the changed one, and those that it depends on, or did before. */
  async mapInput({ input, state }) {
    const dependants = await state.list(Service, { labels: concerning(input.id) });
    return [...servicesInLabels(input.labels), ...dependants.map(({ metadata }) => Service.ref(metadata.id))];
  },
});
