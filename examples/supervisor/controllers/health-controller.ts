import { resolve } from "node:path";

import { exclusive, mapped, Phase, queueController, requeueAfter, type Immutable } from "homeostat";
import { removeOutput } from "homeostat/controller";

import { countAnswer, type Answer } from "../logic/health.ts";
import { concerning, labelServices } from "../logic/service-labels.ts";
import { readServices } from "../logic/service-view.ts";
import { renderTemplate } from "../logic/template.ts";
import type { CommandContext } from "../process/launch.ts";
import { newMark } from "../process/mark.ts";
import { probeCommand, ProbeNotRunError, probeHttp, probeTcp } from "../process/probe.ts";
import {
  HealthCheck,
  HealthStatus,
  ProcessStatus,
  Service,
  type HealthCheckSpec,
  type HealthStatusSpec,
} from "../resources/index.ts";

/** Pace of a check as long as its service has not been well yet, unless its own is faster. Unit: milliseconds. */
const STARTING_PACE_MS = 250;

/**
 * Asks running services how they are, each check at its own pace.
 *
 * @param folder - What the folders of services are relative to.
 * @param records - Folder of the supervisor's records, for the mark of commands.
 */
export function healthController(folder: string, records: string) {
  /** When a check is asked next, as long as its run and declaration stay the same. Losing it means asking once too often. */
  const appointments = new Map<string, { readonly about: string; readonly dueMs: number }>();
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
      if (check?.metadata.phase !== Phase.running) {
        appointments.delete(id);
        await removeOutput(state, HealthStatus.ref(id));
        return;
      }
      const { spec } = check;
      const actual = (await state.getOrNull(ProcessStatus, spec.service))?.spec;
      const report = (status: HealthStatusSpec) =>
        state.modify(HealthStatus, id, (_, { labels }) => {
          labelServices(labels, [spec.service]);
          return status;
        });
      const run = actual?.run ?? 0;
      const before = (await state.getOrNull(HealthStatus, id))?.spec;
      const isRunning = actual?.phase === "running" && actual.startedAt !== undefined;
      const known = isRunning && before?.run === run && before.service === spec.service ? before : fresh(spec, run);
      await report(known);
      if (!isRunning) return;

      const upMs = clock.now() - Date.parse(actual.startedAt ?? "");
      if (upMs < spec.initialDelayMs) return requeueAfter(spec.initialDelayMs - upMs);
      const about = `run ${run} of ${check.metadata.version}`;
      const appointment = appointments.get(id);
      const waitMs = appointment?.about === about ? appointment.dueMs - clock.monotonic() : 0;
      if (waitMs > 0) return requeueAfter(waitMs);
      // What waits for a service to become ready should not wait for the next round as well.
      const paceMs = known.health === "unknown" ? Math.min(spec.intervalMs, STARTING_PACE_MS) : spec.intervalMs;
      const dueMs = clock.monotonic() + paceMs;
      appointments.set(id, { about, dueMs });

      const { env = {}, cwd = "." } = (await state.getOrNull(Service, spec.service))?.spec ?? {};
      const services = await readServices(state, spec.http ?? "", spec.tcp ?? "", ...(spec.command ?? []));
      const context = { cwd: resolve(folder, cwd), env, mark: newMark(records, spec.service) };
      const answer = await ask(spec, { services }, context, signal);
      await report(countAnswer(spec, known, answer, upMs));
      return requeueAfter(Math.max(1, dueMs - clock.monotonic()));
    },
    async mapInput({ input, state }) {
      const checks = await state.list(HealthCheck, { labels: concerning(input.id) });
      return checks.map(({ metadata }) => HealthCheck.ref(metadata.id));
    },
  });
}

const fresh = ({ service }: Immutable<HealthCheckSpec>, run: number): HealthStatusSpec => ({
  service,
  run,
  health: "unknown",
  successes: 0,
  failures: 0,
  message: "",
});

/** Rejects only when the supervisor stops. */
async function ask(
  { http, tcp, command, timeoutMs }: Immutable<HealthCheckSpec>,
  data: Readonly<Record<string, unknown>>,
  context: CommandContext,
  signal: AbortSignal,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  const fill = (text: string) => {
    try {
      return renderTemplate(text, data);
    } catch (error) {
      throw new ProbeNotRunError((error as Error).message);
    }
  };
  try {
    if (http !== undefined) await probeHttp(fill(http), either);
    else if (tcp !== undefined) await probeTcp(fill(tcp), either);
    else await probeCommand((command ?? []).map(fill), context, either);
    return { kind: "good" };
  } catch (error) {
    signal.throwIfAborted();
    const { message } = error as Error;
    if (error instanceof ProbeNotRunError) return { kind: "none", message: `cannot be checked: ${message}` };
    return { kind: "bad", message: timeout.aborted ? `no answer within ${timeoutMs} ms` : message };
  }
}
