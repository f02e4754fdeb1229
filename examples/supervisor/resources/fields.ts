import { z } from "zod";

/** Names of services and checks: they become file names and parts of a table, so they are kept plain. */
export const name: z.ZodType<string> = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, "must be a name of letters, digits, '.', '_' and '-'");

/** Text without NUL, which no process can be given. */
export const text: z.ZodString = z
  .string()
  .max(100_000)
  .refine((value) => !value.includes("\0"), "must not contain a NUL character");

/** A length of time within a day. Unit: milliseconds. */
export const milliseconds: z.ZodNumber = z.number().int().min(0).max(86_400_000);

/** Values of environment variables. YAML reads `PORT: 8080` as a number; a process gets text. */
export const environment: z.ZodType<Record<string, string>> = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable"),
  z.union([text, z.number(), z.boolean()]).transform(String),
);
