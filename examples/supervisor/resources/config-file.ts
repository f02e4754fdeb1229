import { defineResource, type SpecOf } from "homeostat";
import { z } from "zod";

import { list, name, text } from "./fields.ts";

/** A file that is rendered from a template and kept as rendered. It stays on disk when the resource goes. */
export const ConfigFile = defineResource({
  type: "ConfigFiles.supervisor.example.dev",
  spec: z.strictObject({
    /** Relative to the folder of manifests. */
    path: text.min(1),
    /** Text with placeholders: see `template.ts`. */
    template: text,
    /** What `{{ values.… }}` stands for. */
    values: z.record(z.string(), z.unknown()).default({}),
    /** Permissions, as octal digits in a string. */
    mode: z
      .string()
      .regex(/^0?[0-7]{3}$/, 'must be permissions such as "0644", in quotes')
      .default("0644"),
    /** Services that wait for this file before they start, and restart when its content changes. */
    restarts: list(name).default([]),
  }),
  aliases: ["config"],
  columns: { Path: "$.path", Restarts: "$.restarts" },
});
export type ConfigFileSpec = SpecOf<typeof ConfigFile>;

/** What became of a config file. Same id as the file's resource. */
export const ConfigFileStatus = defineResource({
  type: "ConfigFileStatuses.supervisor.example.dev",
  spec: z.strictObject({
    /** Absolute. */
    path: z.string(),
    /** Digest of the content on disk; empty as long as nothing could be rendered. */
    digest: z.string(),
    /** Digest of all that the content was rendered from: another one means that it will be rendered again. */
    inputs: z.string(),
    /** Why the file is not what the resource asks for; empty when it is. */
    error: z.string(),
  }),
  columns: { Path: "$.path", Error: "$.error" },
});
export type ConfigFileStatusSpec = SpecOf<typeof ConfigFileStatus>;
