import { defineResource } from "homeostat";
import { z } from "zod";

/**
 * The supervisor itself. Tearing it down stops everything: a finalizer keeps it until nothing that the manifests
 * declared is left.
 */
export const Supervisor = defineResource({
  type: "Supervisors.supervisor.example.dev",
  spec: z.strictObject({ folder: z.string(), logs: z.string() }),
  columns: { Folder: "$.folder", Logs: "$.logs" },
});

export const SUPERVISOR_ID = "supervisor";
/** Held by the manifest controller. */
export const SUPERVISOR_FINALIZER = "ManifestController";
