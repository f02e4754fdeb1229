import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** What the whole supervisor should do: keep what the manifests declare, or stop everything. */
export interface SupervisorGoalSpec {
  wanted: "running" | "stopped";
}

/** The only resource that the program itself writes: it says "stop" here, and the controllers do the rest. */
export const SupervisorGoal: ResourceType<SupervisorGoalSpec, "SupervisorGoals.supervisor.example.dev"> =
  defineResource({
    type: "SupervisorGoals.supervisor.example.dev",
    spec: z.strictObject({ wanted: z.enum(["running", "stopped"]) }),
  });

export const SUPERVISOR_GOAL_ID = "supervisor";
