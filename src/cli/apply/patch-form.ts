import { applyPatch, type Operation } from "rfc6902";
import { describeFailure } from "../failure.ts";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";

/** Changes a resource in the form that JSON shows, and returns the new form. */
export type FormPatch = (form: unknown) => unknown;

/** RFC 7396: mappings are merged, null removes, everything else takes the place of what was there. */
export const mergePatch =
  (patch: unknown): FormPatch =>
  (form) =>
    merge(form, patch);

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 6902: a list of operations, all or none of which are done. @throws {CliError} usage, for another value. */
export function jsonPatch(patch: unknown): FormPatch {
  if (!Array.isArray(patch) || !patch.every((one) => isRecord(one) && typeof one["op"] === "string")) {
    throw usageError("a JSON patch is a list of operations, such as [{op: replace, path: /spec/size, value: 1}]");
  }
  const operations = patch as Operation[];
  return (form) => {
    const whole = { form: structuredClone(form) };
    const prefixed = operations.map((one) => ({
      ...one,
      path: `/form${one.path}`,
      ...("from" in one && { from: `/form${one.from}` }),
    }));
    const failures = applyPatch(whole, prefixed as Operation[]);
    const at = failures.findIndex((failure) => failure !== null);
    const operation = operations[at];
    if (operation === undefined) return whole.form;
    const { op, path } = operation;
    const isTest = failures[at]?.name === "TestError";
    const reason = isTest ? "the value is another one" : describeFailure(failures[at]).replaceAll("/form/", "/");
    throw new CliError(
      isTest ? ExitCode.conflict : ExitCode.failed,
      `operation ${at + 1} (${op} ${path}) of the patch cannot be done: ${reason}`,
    );
  };
}
