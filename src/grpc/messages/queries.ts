import type { WireReader, WireWriter } from "../../wire/index.ts";
import { LabelOperator, StateError, type LabelQuery, type LabelTerm } from "../../resource/index.ts";
import { compileQuery, type Query } from "../../state/index.ts";
import { GrpcError, Status } from "../../rpc/index.ts";

/** Numbers of the operations on the wire, by our names. */
const OPERATION: Readonly<Record<keyof typeof LabelOperator, number>> = {
  exists: 0,
  equal: 1,
  in: 3,
  lessThan: 4,
  lessOrEqual: 5,
  lessThanNumeric: 6,
  lessOrEqualNumeric: 7,
};
/** Still read, never written: the label is not there. */
const NOT_EXISTS = 2;

const NAMES = Object.keys(OPERATION) as (keyof typeof OPERATION)[];
const OPERATIONS: ReadonlyMap<LabelOperator, number> = new Map(
  NAMES.map((name) => [LabelOperator[name], OPERATION[name]]),
);
const OPERATORS: ReadonlyMap<number, LabelOperator> = new Map(
  NAMES.map((name) => [OPERATION[name], LabelOperator[name]]),
);

const TERMS_TAG = 0x0a;
const KEY_TAG = 0x0a;
const OP_TAG = 0x10;
const VALUE_TAG = 0x1a;
const INVERT_TAG = 0x28;
const REGEXP_TAG = 0x0a;

/** More queries, terms and values in one request are refused: two bytes each would take a hundred. */
const MAX_PARTS = 10_000;

/**
 * A query as fields of the options of a request.
 *
 * @throws {StateError} `invalid` for a query of the wrong shape. The pattern of ids is for the server to check.
 */
export function writeQuery(writer: WireWriter, query: Query, labelsTag: number, idsTag: number): void {
  for (const terms of labelQueriesOf(query)) {
    const mark = writer.open(labelsTag);
    for (const term of terms) writeTerm(writer, safeTerm(term));
    writer.close(mark);
  }
  if (query.ids === undefined || query.ids === "") return;
  const mark = writer.open(idsTag);
  writer.stringField(REGEXP_TAG, query.ids);
  writer.close(mark);
}

function labelQueriesOf({ labels = [] }: Query): readonly LabelQuery[] {
  void compileQuery({ labels });
  if (labels.some((entry) => Array.isArray(entry))) return labels as readonly LabelQuery[];
  return labels.length === 0 ? [] : [labels as LabelQuery];
}

function writeTerm(writer: WireWriter, { key, operator, values, invert }: LabelTerm): void {
  const operation = OPERATIONS.get(operator);
  if (operation === undefined) throw new StateError("invalid", `unknown label operator ${String(operator)}`);
  const mark = writer.open(TERMS_TAG);
  if (key !== "") writer.stringField(KEY_TAG, key);
  if (operation !== OPERATION.exists) writer.uint32Field(OP_TAG, operation);
  for (const value of values) writer.stringField(VALUE_TAG, value);
  if (invert) writer.uint32Field(INVERT_TAG, 1);
  writer.close(mark);
}

/**
 * A term that means the same and that no server chokes on: Go's takes the first value of most operations without looking
 * whether there is one.
 */
function safeTerm(term: LabelTerm): LabelTerm {
  const { operator, values } = term;
  if (operator === LabelOperator.exists) return values.length === 0 ? term : { ...term, values: [] };
  if (operator === LabelOperator.in || values.length > 0) return term;
  const never: LabelTerm = { ...term, operator: LabelOperator.in };
  // A label that is not there compares with nothing, whatever `invert` says.
  if (operator === LabelOperator.equal || !term.invert) return never;
  return { ...term, operator: LabelOperator.exists, invert: false };
}

/** Takes in the queries of one request, and sees that they are not too many. */
export class QueryParts {
  readonly #labels: LabelQuery[] = [];
  #ids: string | undefined;
  #parts = 0;

  /** Reads the LabelQuery in the field at hand. @throws {GrpcError} UNIMPLEMENTED for an unknown operation. */
  readLabelQuery(reader: WireReader): void {
    this.#count();
    const terms: LabelTerm[] = [];
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === TERMS_TAG) terms.push(this.#readTerm(reader));
      else reader.skip(tag);
    }
    reader.leave(outer);
    this.#labels.push(Object.freeze(terms));
  }

  /** Reads the IDQuery in the field at hand. */
  readIdQuery(reader: WireReader): void {
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === REGEXP_TAG) this.#ids = reader.string();
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  finish(): Query {
    const labels = this.#labels.length === 0 ? undefined : this.#labels;
    // A pattern without text is a filter that is not set.
    const ids = this.#ids === "" ? undefined : this.#ids;
    return { labels, ids };
  }

  #readTerm(reader: WireReader): LabelTerm {
    this.#count();
    let [key, operation, invert] = ["", 0, false];
    const values: string[] = [];
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === KEY_TAG) key = reader.string();
      else if (tag === OP_TAG) operation = reader.int32();
      else if (tag === INVERT_TAG) invert = reader.bool();
      else if (tag === VALUE_TAG) {
        this.#count();
        values.push(reader.string());
      } else reader.skip(tag);
    }
    reader.leave(outer);
    return makeTerm(key, operation, values, invert);
  }

  #count(): void {
    if (++this.#parts <= MAX_PARTS) return;
    throw new StateError("invalid", `label queries may have at most ${MAX_PARTS} terms and values in all`);
  }
}

function makeTerm(key: string, operation: number, values: readonly string[], invert: boolean): LabelTerm {
  if (operation === NOT_EXISTS) return { key, operator: LabelOperator.exists, values: [], invert: true };
  const operator = OPERATORS.get(operation);
  if (operator !== undefined) return { key, operator, values, invert };
  throw new GrpcError(Status.unimplemented, `label operation ${operation} is not known here`);
}
