import { z } from "zod";

/** Names become file names and parts of a table, so they are kept plain. */
export const PLAIN_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** The name of a service. */
export const name = z.string().regex(PLAIN_NAME, "must be a name of letters, digits, '.', '_' and '-'");

/** Text without NUL, which no process can be given. */
export const text = z
  .string()
  .max(100_000)
  .refine((value) => !value.includes("\0"), "must not contain a NUL character");

/** A length of time within a day. Unit: milliseconds. */
export const milliseconds = z.number().int().min(0).max(86_400_000);

/** A list; a single word in its place is answered with the list that was probably meant. */
export const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item, {
      error: ({ input }) =>
        typeof input === "string" ? `must be a list: [${input.trim().split(/\s+/).join(", ")}]` : undefined,
    })
    .max(1000);

/** The program and its arguments; no shell is involved. */
export const command = list(text).min(1, "must name a program");

/** Environment variables. In manifests, values are the text that is written. */
export const environment = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable"),
  z.union([text, z.number(), z.boolean()], { error: "must be a single value" }).transform(String),
);
