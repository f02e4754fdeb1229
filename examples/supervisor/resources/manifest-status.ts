import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** A mistake in a manifest, and where it is. */
export interface ManifestProblem {
  /** An error costs the document; a warning tells of a doubt about one that is in force. */
  severity: "error" | "warning";
  /** Counted from 1; absent when the whole file is meant. */
  line?: number | undefined;
  column?: number | undefined;
  /** Path of the field, such as `spec.command[0]`; absent when it is about no field. */
  field?: string | undefined;
  message: string;
}

/** What became of a manifest. The id is the file's name. */
export interface ManifestStatusSpec {
  problems: ManifestProblem[];
  /** Resources that the file declares and that are in force: `Service/web`. */
  applied: string[];
  /** Resources whose last good version stays in force because of the problems. */
  kept: string[];
}

const spec = z.strictObject({
  problems: z.array(
    z.strictObject({
      severity: z.enum(["error", "warning"]),
      line: z.number().optional(),
      column: z.number().optional(),
      field: z.string().optional(),
      message: z.string(),
    }),
  ),
  applied: z.array(z.string()),
  kept: z.array(z.string()),
}) satisfies z.ZodType<ManifestStatusSpec>;

export const ManifestStatus: ResourceType<ManifestStatusSpec, "ManifestStatuses.supervisor.example.dev"> =
  defineResource({
    type: "ManifestStatuses.supervisor.example.dev",
    spec,
    columns: { Problems: "$.problems[*].message", Applied: "$.applied" },
  });

/** Id of the status that tells of the folder itself; no manifest has such a name. */
export const FOLDER_STATUS_ID = "(folder)";
