import {
  exclusive,
  mapped,
  Phase,
  queueController,
  requeueAfter,
  type Immutable,
  type QueueController,
  type Resource,
} from "homeostat";

import { countAnswer } from "../logic/health.ts";
import { renderTemplate } from "../logic/template.ts";
import { probeCommand, probeHttp, probeTcp, type CommandSurroundings } from "../process/probe.ts";
import {
  HealthCheck,
  HealthStatus,
  ProcessStatus,
  Service,
  type HealthCheckSpec,
  type HealthStatusSpec,
} from "../resources/index.ts";
import { servicesForTemplates } from "./config-file-controller.ts";
import { labelServices } from "./service-labels.ts";

/** Pace of a check as long as its service has not been well yet, unless its own is faster. Unit: milliseconds. */
const STARTING_PACE_MS = 250;

export interface HealthControllerOptions {
  /** Environment and folder that a service's commands run with. */
  readonly surroundings: (service: string, env: Readonly<Record<string, string>>, cwd: string) => CommandSurroundings;
}

/** When a check is asked next, for which run, and by which version of its declaration. */
interface Appointment {
  readonly run: number;
  readonly version: string;
  readonly dueMs: number;
}

/** Asks running services how they are, each check at its own pace. */
export function healthController({ surroundings }: HealthControllerOptions): QueueController {
  // Only the pace is kept here: losing it means asking once too often.
  const appointments = new Map<string, Appointment>();
  return queueController({
    name: "HealthController",
    primary: HealthCheck,
    inputs: [mapped(ProcessStatus), mapped(Service, () => [])],
    outputs: [exclusive(HealthStatus)],
    // Most of them wait for an answer.
    concurrency: 64,
    async reconcile({ ref, state, clock, signal }) {
      const { id } = ref;
      const check = await state.getOrNull(ref);
      if (check === undefined || check.metadata.phase !== Phase.running) {
        appointments.delete(id);
        if ((await state.getOrNull(HealthStatus, id)) === undefined) return;
        await state.teardown(HealthStatus.ref(id));
        await state.destroy(HealthStatus.ref(id));
        return;
      }
      const { spec } = check;
      const { version } = check.metadata;
      const actual = (await state.getOrNull(ProcessStatus, spec.service))?.spec;
      const tell = (status: HealthStatusSpec) =>
        state.modify(HealthStatus, id, (_, { labels }) => {
          labelServices(labels, [spec.service]);
          return status;
        });
      const run = actual?.run ?? 0;
      const before = (await state.getOrNull(HealthStatus, id))?.spec;
      const known = before?.run === run && before.service === spec.service ? before : fresh(spec, run);
      if (actual?.phase !== "running" || actual.startedAt === undefined) {
        await tell(fresh(spec, run));
        return;
      }
      await tell(known);

      const upMs = clock.now() - Date.parse(actual.startedAt);
      if (upMs < spec.initialDelayMs) return requeueAfter(spec.initialDelayMs - upMs);
      const appointment = appointments.get(id);
      const waitMs = (appointment?.dueMs ?? 0) - clock.monotonic();
      if (appointment?.run === run && appointment.version === version && waitMs > 0) return requeueAfter(waitMs);
      // Whoever waits for a service to become ready should not wait for the next round as well.
      const paceMs = known.health === "unknown" ? Math.min(spec.intervalMs, STARTING_PACE_MS) : spec.intervalMs;
      appointments.set(id, { run, version, dueMs: clock.monotonic() + paceMs });

      const services = new Map((await state.list(Service)).map(({ metadata, spec: data }) => [metadata.id, data]));
      const service = services.get(spec.service);
      const around = surroundings(spec.service, service?.env ?? {}, service?.cwd ?? ".");
      const failure = await ask(spec, { services: servicesForTemplates(services) }, around, signal);
      await tell(countAnswer(spec, known, failure, upMs));
      return requeueAfter(Math.max(1, (appointments.get(id)?.dueMs ?? 0) - clock.monotonic()));
    },
    async mapInput({ input, state }) {
      return (await state.list(HealthCheck))
        .filter(({ spec }) => spec.service === input.id)
        .map(({ metadata }: Resource) => HealthCheck.ref(metadata.id));
    },
  });
}

const fresh = ({ service, onUnhealthy }: Immutable<HealthCheckSpec>, run: number): HealthStatusSpec => ({
  service,
  run,
  health: "unknown",
  successes: 0,
  failures: 0,
  message: "",
  restart: onUnhealthy === "restart",
});

/** Resolves to what is wrong, or to undefined when nothing is. Rejects only when the supervisor stops. */
async function ask(
  { http, tcp, command, timeoutMs }: Immutable<HealthCheckSpec>,
  data: Readonly<Record<string, unknown>>,
  around: CommandSurroundings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  const fill = (text: string) => renderTemplate(text, data);
  try {
    if (http !== undefined) await probeHttp(fill(http), either);
    else if (tcp !== undefined) await probeTcp(fill(tcp), either);
    else await probeCommand((command ?? []).map(fill), around, either);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return timeout.aborted ? `no answer within ${timeoutMs} ms` : (error as Error).message;
  }
}
