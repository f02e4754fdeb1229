import { exclusive, mapped, queueController, type ControllerState } from "homeostat";
import { removeOutput, sameId } from "homeostat/controller";

import type { ProcessTable } from "../process/process-table.ts";
import { Process, ProcessStatus } from "../resources/index.ts";

/**
 * Makes processes what they are wanted to be, and reports what they are.
 *
 * Its run hook reports what happens without being asked for: a process that ends, a log that cannot be written. That
 * wakes the controller as well, so that a run that waits for the end of the one before starts then.
 */
export function processController(table: ProcessTable) {
  /** Writes the status of this moment: it is looked up in the write, so that the last one written is the latest. */
  const report = (
    state: Pick<ControllerState<typeof Process, typeof ProcessStatus>, "modify">,
    id: string,
    run: number,
  ) => state.modify(ProcessStatus, id, () => table.describe(id, run));

  return queueController({
    name: "ProcessController",
    primary: Process,
    inputs: [mapped(ProcessStatus, sameId(Process))],
    outputs: [exclusive(ProcessStatus)],
    concurrency: 16,
    async reconcile({ ref, state }) {
      const { id } = ref;
      const spec = (await state.getOrNull(ref))?.spec;
      const present = table.get(id);
      if (spec === undefined) {
        if (present?.isAlive === true) return present.stop("SIGTERM", 10_000);
        table.forget(id);
        await removeOutput(state, ProcessStatus.ref(id));
        return;
      }
      const { run, wanted, stopSignal, stopGraceMs } = spec;
      const isStarted = present?.run === run;
      if (wanted === "stopped" || !isStarted) present?.stop(stopSignal, stopGraceMs);
      if (wanted === "running" && !isStarted && present?.isAlive !== true) table.start(id, spec);
      await report(state, id, run);
    },
    async runHook({ state, signal }) {
      for await (const id of table.changes(signal)) {
        const process = await state.getOrNull(Process, id);
        await report(state, id, process?.spec.run ?? table.get(id)?.run ?? 0);
      }
    },
  });
}
