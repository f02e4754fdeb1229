import { exclusive, mapped, queueController, type ControllerState, type QueueController } from "homeostat";

import type { ProcessTable } from "../process/process-table.ts";
import { Process, ProcessStatus, type ProcessSpec } from "../resources/index.ts";

/**
 * Makes processes what they are wanted to be, and tells what they are.
 *
 * Its run hook tells of what happens by itself: a process that ends, a log that cannot be written. That wakes the
 * controller, too, so that a run that waits for the end of the one before starts then.
 */
export function processController(table: ProcessTable): QueueController {
  return queueController({
    name: "ProcessController",
    primary: Process,
    inputs: [mapped(ProcessStatus, (status) => [Process.ref(status.id)])],
    outputs: [exclusive(ProcessStatus)],
    concurrency: 16,
    async reconcile({ ref, state }) {
      const { id } = ref;
      const wanted = await state.getOrNull(ref);
      if (wanted === undefined) {
        table.stop(id, "SIGTERM", 10_000);
        if (table.isAlive(id)) return;
        table.forget(id);
        if ((await state.getOrNull(ProcessStatus, id)) === undefined) return;
        await state.teardown(ProcessStatus.ref(id));
        await state.destroy(ProcessStatus.ref(id));
        return;
      }
      const { run, wanted: goal, stopSignal, stopGraceMs } = wanted.spec;
      const started = table.runOf(id) === run;
      if (goal === "stopped" || !started) table.stop(id, stopSignal, stopGraceMs);
      if (goal === "running" && !started && !table.isAlive(id))
        table.start(id, structuredClone(wanted.spec) as ProcessSpec);
      await tell(table, state, id, run);
    },
    async runHook({ state, signal }) {
      for await (const id of table.changes(signal)) {
        const process = await state.getOrNull(Process, id);
        await tell(table, state, id, process?.spec.run ?? table.runOf(id) ?? 0);
      }
    },
  });
}

/** Writes down how the process is at this moment. Whoever writes last, writes the latest: it is looked up in the write. */
async function tell(
  table: ProcessTable,
  state: ControllerState<typeof Process | typeof ProcessStatus, typeof ProcessStatus>,
  id: string,
  run: number,
): Promise<void> {
  await state.modify(ProcessStatus, id, () => table.describe(id, run));
}
