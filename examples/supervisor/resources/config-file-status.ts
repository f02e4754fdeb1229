import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

/** What became of a config file. Same id as the file's resource. */
export interface ConfigFileStatusSpec {
  /** Absolute. */
  path: string;
  restarts: string[];
  /** Digest of the content on disk; empty as long as nothing could be rendered. */
  digest: string;
  /** Digest of all that the content was rendered from: another one means that it will be rendered again. */
  inputs: string;
  /** Why the file is not what the resource asks for; empty when it is. */
  error: string;
}

const spec = z.strictObject({
  path: z.string(),
  restarts: z.array(z.string()),
  digest: z.string(),
  inputs: z.string(),
  error: z.string(),
}) satisfies z.ZodType<ConfigFileStatusSpec>;

export const ConfigFileStatus: ResourceType<ConfigFileStatusSpec, "ConfigFileStatuses.supervisor.example.dev"> =
  defineResource({
    type: "ConfigFileStatuses.supervisor.example.dev",
    spec,
    columns: { Path: "$.path", Error: "$.error" },
  });
