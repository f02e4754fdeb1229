import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

/** What became of a manifest. The id is the file's name. */
export const ManifestStatus = defineResource({
  type: "ManifestStatuses.supervisor.example.dev",
  spec: z.strictObject({
    problems: z.array(
      z.strictObject({
        /** An error costs the document; a warning is about one that is in force. */
        severity: z.enum(["error", "warning"]),
        /** Counted from 1; absent when the whole file is meant. */
        line: z.number().optional(),
        column: z.number().optional(),
        /** Path of the field, such as `spec.command[0]`; absent when it is about no field. */
        field: z.string().optional(),
        message: z.string(),
      }),
    ),
    /** Resources that the file declares and that are in force: `Services/web`. */
    applied: z.array(z.string()),
    /** Resources whose last good version stays in force because of the problems. */
    kept: z.array(z.string()),
  }),
  columns: { Problems: "$.problems[*].message", Applied: "$.applied" },
});
export type ManifestStatusSpec = SpecOf<typeof ManifestStatus>;
export type ManifestProblem = ManifestStatusSpec["problems"][number];

/** Id of the status of the folder itself; no manifest has such a name. */
export const FOLDER_STATUS_ID = "(folder)";
