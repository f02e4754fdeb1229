import { exclusive, mapped, queueController, type ControllerState } from "homeostat";

import type { ProcessTable } from "../process/process-table.ts";
import { Process, ProcessStatus, type ProcessSpec } from "../resources/index.ts";
import { remove } from "./remove.ts";

/**
 * Makes processes what they are wanted to be, and reports what they are.
 *
 * Its run hook reports what happens without being asked for: a process that ends, a log that cannot be written. That
 * wakes the controller as well, so that a run that waits for the end of the one before starts then.
 */
export const processController = (table: ProcessTable) =>
  queueController({
    name: "ProcessController",
    primary: Process,
    inputs: [mapped(ProcessStatus, (status) => [Process.ref(status.id)])],
    outputs: [exclusive(ProcessStatus)],
    concurrency: 16,
    async reconcile({ ref, state }) {
      const { id } = ref;
      const process = await state.getOrNull(ref);
      if (process === undefined) {
        table.stop(id, "SIGTERM", 10_000);
        if (table.isAlive(id)) return;
        table.forget(id);
        return remove(state, ProcessStatus.ref(id));
      }
      const { run, wanted, stopSignal, stopGraceMs } = process.spec;
      const started = table.runOf(id) === run;
      if (wanted === "stopped" || !started) table.stop(id, stopSignal, stopGraceMs);
      if (wanted === "running" && !started && !table.isAlive(id)) {
        table.start(id, structuredClone(process.spec) as ProcessSpec);
      }
      await report(table, state, id, run);
    },
    async runHook({ state, signal }) {
      for await (const id of table.changes(signal)) {
        const process = await state.getOrNull(Process, id);
        await report(table, state, id, process?.spec.run ?? table.runOf(id) ?? 0);
      }
    },
  });

/** Writes the status of this moment: it is looked up in the write, so that the last one written is the latest. */
async function report(
  table: ProcessTable,
  state: Pick<ControllerState<typeof Process, typeof ProcessStatus>, "modify">,
  id: string,
  run: number,
): Promise<void> {
  await state.modify(ProcessStatus, id, () => table.describe(id, run));
}
