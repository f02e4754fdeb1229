import { defineResource, type ResourceType } from "homeostat";
import { z } from "zod";

import { name, text } from "./fields.ts";

/** A file that is rendered from a template and kept as rendered. It stays on disk when the resource goes. */
export interface ConfigFileSpec {
  /** Relative to the folder of manifests. */
  path: string;
  /** Text with placeholders: see `template.ts`. */
  template: string;
  /** What `{{ values.… }}` stands for. */
  values: Record<string, unknown>;
  /** Permissions, as octal digits in a string. */
  mode: string;
  /** Services that wait for this file before they start, and restart when its content changes. */
  restarts: string[];
}

const spec = z.strictObject({
  path: text.min(1),
  template: text,
  values: z.record(z.string(), z.unknown()).default({}),
  mode: z
    .string()
    .regex(/^0?[0-7]{3}$/, 'must be permissions such as "0644", in quotes')
    .default("0644"),
  restarts: z.array(name).max(1000).default([]),
}) satisfies z.ZodType<ConfigFileSpec>;

/** {@link ConfigFileSpec} as a person writes it. */
export interface ConfigFileInput extends Partial<ConfigFileSpec> {
  path: string;
  template: string;
}

export const ConfigFile: ResourceType<ConfigFileSpec, "ConfigFiles.supervisor.example.dev", ConfigFileInput> =
  defineResource({
    type: "ConfigFiles.supervisor.example.dev",
    spec,
    aliases: ["config"],
    columns: { Path: "$.path", Restarts: "$.restarts" },
  });
