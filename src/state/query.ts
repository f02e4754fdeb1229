import {
  compileIdQuery,
  LabelOperator,
  matchesLabels,
  StateError,
  type IdQuery,
  type LabelQuery,
  type LabelTerm,
  type Metadata,
} from "../resource/index.ts";
import type { Query } from "./options.ts";

/** A checked {@link Query}, independent of the object that it was made from. */
export interface CompiledQuery {
  /** How much work a resource is, at least 1: about the number of values that it is compared with. */
  readonly cost: number;
  matches(resource: { readonly metadata: Pick<Metadata, "id" | "labels"> }): boolean;
}

/**
 * Checks a query and makes it ready to be asked often. Undefined for a query that matches everything. A promise only
 * when there is an id pattern, whose library is loaded on first use.
 *
 * @throws {StateError} `invalid` for a query of the wrong shape, an unknown operator, or a pattern that does not compile.
 */
export function compileQuery(query: Query): Promise<CompiledQuery> | CompiledQuery | undefined {
  const { labels, ids } = query;
  const queries = labels === undefined ? undefined : parseLabelQueries(labels);
  if (ids === undefined || ids === "") {
    return queries && { cost: costOf(queries), matches: ({ metadata }) => matchesAny(queries, metadata) };
  }
  return compileWithIds(ids, queries);
}

async function compileWithIds(ids: string, queries: readonly LabelQuery[] | undefined): Promise<CompiledQuery> {
  const pattern: IdQuery = await compileIdQuery(ids);
  if (queries === undefined) return { cost: PATTERN_COST, matches: ({ metadata }) => pattern.matches(metadata.id) };
  return {
    cost: PATTERN_COST + costOf(queries),
    matches: ({ metadata }) => matchesAny(queries, metadata) && pattern.matches(metadata.id),
  };
}

/** A pattern of the largest size takes about as long as so many comparisons, for an id of usual length. */
const PATTERN_COST = 1_000;

const costOf = (queries: readonly LabelQuery[]): number =>
  queries.flat().reduce((sum, { values }) => sum + 1 + values.length, 1);

function matchesAny(queries: readonly LabelQuery[], metadata: Pick<Metadata, "labels">): boolean {
  for (const query of queries) if (matchesLabels(query, metadata.labels)) return true;
  return false;
}

/** The queries of which one must hold; undefined when one of them, or having none, matches everything. */
function parseLabelQueries(labels: LabelQuery | readonly LabelQuery[]): readonly LabelQuery[] | undefined {
  const given: unknown = labels;
  if (!Array.isArray(given)) throw invalid("must be an array of terms, or an array of such arrays", given);
  const list: readonly unknown[] = given;
  const several = list.some((entry) => Array.isArray(entry));
  const queries = (several ? list : [list]).map(parseLabelQuery);
  return queries.some((query) => query.length === 0) ? undefined : queries;
}

function parseLabelQuery(query: unknown): LabelQuery {
  if (!Array.isArray(query)) throw invalid("must hold either terms or arrays of terms, not both", query);
  return query.map(parseLabelTerm);
}

const OPERATORS: ReadonlySet<unknown> = new Set(Object.values(LabelOperator));

function parseLabelTerm(term: unknown): LabelTerm {
  if (typeof term !== "object" || term === null) throw invalid("must consist of terms such as equal(key, value)", term);
  const { key, operator, values, invert } = term as Partial<Record<keyof LabelTerm, unknown>>;
  if (typeof key !== "string") throw invalid("must have a string as the key of each term", key);
  if (!OPERATORS.has(operator)) throw invalid("must have a LabelOperator as the operator of each term", operator);
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
    throw invalid("must have an array of strings as the values of each term", values);
  }
  if (typeof invert !== "boolean") throw invalid("must have true or false as the invert flag of each term", invert);
  return { key, operator: operator as LabelOperator, values: [...values], invert };
}

function invalid(rule: string, got: unknown): StateError {
  const shown =
    typeof got === "string"
      ? JSON.stringify(got.slice(0, 100))
      : typeof got === "number"
        ? got
        : got === null
          ? "null"
          : typeof got;
  return new StateError("invalid", `a label query ${rule}, got ${shown}`);
}
