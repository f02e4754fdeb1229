import { onOneLine } from "../../../internal/visible-text.ts";
import type { JsonSchema } from "../../../resource/index.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import type { NamedKind } from "../../args/named-kind.ts";
import { CliError, notFoundError, usageError } from "../../cli-error.ts";
import { closestOf } from "../../args/closest-name.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { fieldsOf, type Field } from "../../print/schema-fields.ts";
import { TableWriter } from "../../print/table-writer.ts";

export interface FieldsOptions {
  /** Type, by any of its names. */
  readonly type: string;
  /** Field from which on, such as `spec.limits`. Default: all. */
  readonly path?: string | undefined;
  /** `table` or `json`. Default: table. */
  readonly output?: string | undefined;
}

/** More rows are counted, not shown. */
const MAX_ROWS = 500;

/** Shows the fields that specs of a type have, from the JSON Schema that its definition carries. */
export async function fields(
  { state, stdout, stderr, signal }: WriteContext,
  options: FieldsOptions,
): Promise<ExitCode> {
  const { type, path, output = "table" } = options;
  if (output !== "table" && output !== "json")
    throw usageError(`-o must be table or json, got ${JSON.stringify(output)}`);
  const kind = (await loadKinds(state, signal)).find(type);
  const schema = schemaOf(kind);
  if (output === "json") {
    await stdout.write(`${JSON.stringify(schema, undefined, 4)}\n`);
    return ExitCode.ok;
  }
  const rows = select(fieldsOf(schema), path);
  const short = kind.names.filter((name) => !name.includes(".")).join(", ");
  await stdout.write(onOneLine(`${kind.displayType} (${kind.type}), also ${short}`) + "\n\n");
  const table = new TableWriter(["FIELD", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"]);
  await stdout.write(table.write(rows.slice(0, MAX_ROWS).map(cellsOf)));
  if (rows.length > MAX_ROWS)
    await stderr.write(`homeostat: ${rows.length - MAX_ROWS} more fields; name one to see those in it\n`);
  return ExitCode.ok;
}

const cellsOf = ({ path, type, isRequired, defaultText, description }: Field): readonly string[] =>
  [path, type, isRequired ? "yes" : "", defaultText, description].map(onOneLine);

/** @throws {CliError} failed, when the fields are not known. */
function schemaOf(kind: NamedKind): JsonSchema {
  if (kind.schema !== undefined) return kind.schema;
  const reason = kind.isDescribed ? "its definition carries no schema" : "it has no definition";
  const message = `the fields of ${kind.type} are not known: ${reason}; get ${kind.names[0] ?? kind.type} -o yaml shows what there is`;
  throw new CliError(ExitCode.failed, message);
}

function select(all: readonly Field[], path: string | undefined): readonly Field[] {
  if (path === undefined) return all;
  const wanted = /^spec\b/.test(path) ? path : `spec.${path}`;
  const found = all.filter(
    (one) => one.path === wanted || (/^[.[]/.test(one.path.slice(wanted.length)) && one.path.startsWith(wanted)),
  );
  if (found.length > 0) return found;
  const closest = closestOf(
    wanted,
    all.map((one) => one.path),
  );
  throw notFoundError(`there is no field ${wanted}${closest === undefined ? "" : `; did you mean ${closest}?`}`);
}
