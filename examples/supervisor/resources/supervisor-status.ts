import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** How far the supervisor is with its goal. Same id as the goal. */
export interface SupervisorStatusSpec {
  /** `stopped`: nothing is declared any more, and nothing that was declared is left. */
  phase: "running" | "stopping" | "stopped";
}

export const SupervisorStatus: ResourceType<SupervisorStatusSpec, "SupervisorStatuses.supervisor.example.dev"> =
  defineResource({
    type: "SupervisorStatuses.supervisor.example.dev",
    spec: z.strictObject({ phase: z.enum(["running", "stopping", "stopped"]) }),
  });
