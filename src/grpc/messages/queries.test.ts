import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  equal,
  exists,
  LabelOperator,
  lessThan,
  matchesLabels,
  not,
  oneOf,
  sealDictionary,
  StateError,
  type LabelQuery,
  type LabelTerm,
} from "../../resource/index.ts";
import { compileQuery } from "../../state/index.ts";
import { LabelTerm_Operation as Operation } from "../../../test/gen/cosi/resource/resource_pb.ts";
import { ListRequestSchema, WatchRequestSchema } from "../../../test/gen/cosi/resource/state_pb.ts";
import { Rpc } from "../rpc.ts";
import { toGrpcError } from "../server-error.ts";
import { GrpcError, Status } from "../../rpc/index.ts";
import { decodeListRequest, encodeListRequest } from "./list-request.ts";
import { decodeWatchRequest } from "./watch-request.ts";

const kind = { namespace: "n", type: "t" };
const list = (options: NonNullable<MessageInitShape<typeof ListRequestSchema>["options"]>) =>
  decodeListRequest(toBinary(ListRequestSchema, create(ListRequestSchema, { ...kind, options }))).query;
const terms = (...sent: NonNullable<MessageInitShape<typeof ListRequestSchema>["options"]>["labelQuery"] & {}) =>
  list({ labelQuery: sent });
const matches = (query: LabelQuery | readonly LabelQuery[] | undefined, labels: Record<string, string>): boolean => {
  const queries = (query ?? []) as readonly LabelQuery[];
  return queries.length === 0 || queries.some((one) => matchesLabels(one, sealDictionary(labels)));
};

/** The status that a List with this query ends with. */
async function statusOf(decode: () => ReturnType<typeof decodeListRequest>): Promise<Status> {
  try {
    await compileQuery(decode().query);
    return Status.ok;
  } catch (error) {
    return toGrpcError(error, Rpc.list).code;
  }
}

describe("[transport X9] odd queries", () => {
  test.each([Operation.EQUAL, Operation.IN])(
    "a term of operation %i without values never holds, and always when inverted",
    (op) => {
      const never = terms({ terms: [{ key: "a", op }] }).labels;
      const always = terms({ terms: [{ key: "a", op, invert: true }] }).labels;
      for (const labels of [{ a: "" }, { a: "x" }, {}]) {
        expect(matches(never, labels)).toBe(false);
        expect(matches(always, labels)).toBe(true);
      }
    },
  );

  test.each([Operation.LT, Operation.LTE, Operation.LT_NUMERIC, Operation.LTE_NUMERIC])(
    "a comparison of operation %i without value never holds, and inverted for every label that is there",
    (op) => {
      const never = terms({ terms: [{ key: "a", op }] }).labels;
      const inverted = terms({ terms: [{ key: "a", op, invert: true }] }).labels;
      expect(matches(never, { a: "1" })).toBe(false);
      expect(matches(inverted, { a: "1" })).toBe(true);
      expect(matches(inverted, {})).toBe(false);
    },
  );

  test("NOT_EXISTS is EXISTS inverted, whatever its invert flag says", () => {
    for (const invert of [false, true]) {
      const { labels } = terms({ terms: [{ key: "a", op: Operation.NOT_EXISTS, invert }] });
      expect(labels).toEqual([[not(exists("a"))]]);
    }
  });

  test("an unknown operation is UNIMPLEMENTED", async () => {
    const bytes = toBinary(
      ListRequestSchema,
      create(ListRequestSchema, { options: { labelQuery: [{ terms: [{ key: "a", op: 8 as Operation }] }] } }),
    );
    expect(await statusOf(() => decodeListRequest(bytes))).toBe(Status.unimplemented);
    expect(() => decodeListRequest(bytes)).toThrow(GrpcError);
  });

  test("a bad pattern is INVALID_ARGUMENT, an empty one is no filter", async () => {
    const of = (regexp: string) =>
      toBinary(ListRequestSchema, create(ListRequestSchema, { options: { idQuery: { regexp } } }));
    expect(await statusOf(() => decodeListRequest(of("(")))).toBe(Status.invalidArgument);
    expect(await statusOf(() => decodeListRequest(of("^a$")))).toBe(Status.ok);
    expect(decodeListRequest(of("")).query.ids).toBeUndefined();
  });
});

describe("queries to peers", () => {
  const sent = (query: LabelQuery | readonly LabelQuery[]) =>
    fromBinary(ListRequestSchema, encodeListRequest(kind, { labels: query })).options?.labelQuery ?? [];

  test("one query or several, and none", () => {
    expect(sent([equal("a", "b")]).length).toBe(1);
    expect(sent([[equal("a", "b")], [exists("c"), exists("d")]]).map((query) => query.terms.length)).toEqual([1, 2]);
    expect(sent([])).toEqual([]);
    expect(sent([[], [exists("a")]]).map((query) => query.terms.length)).toEqual([0, 1]);
  });

  const valueless = (operator: LabelOperator, invert: boolean): LabelTerm => ({
    key: "a",
    operator,
    values: [],
    invert,
  });

  test.each(Object.values(LabelOperator).filter((operator) => operator !== LabelOperator.exists))(
    "a term of operator %s without value goes out as one that means the same and that every server survives",
    (operator) => {
      for (const invert of [false, true]) {
        const original = valueless(operator, invert);
        const [query] = sent([original]);
        const [term] = query?.terms ?? [];
        expect(term?.op === Operation.IN || term?.op === Operation.EXISTS).toBe(true);
        const received = decodeListRequest(encodeListRequest(kind, { labels: [original] })).query.labels;
        for (const labels of [{ a: "" }, { a: "1" }, { b: "1" }]) {
          expect(matches(received, labels)).toBe(matchesLabels([original], sealDictionary(labels)));
        }
      }
    },
  );

  test("NOT_EXISTS is never sent, and EXISTS has no value", () => {
    const [query] = sent([not(exists("a")), { ...exists("b"), values: ["x"] }]);
    expect(query?.terms).toMatchObject([
      { key: "a", op: Operation.EXISTS, invert: true, value: [] },
      { key: "b", op: Operation.EXISTS, invert: false, value: [] },
    ]);
  });

  test("what is no query is refused before it is sent", () => {
    expect(() => encodeListRequest(kind, { labels: [{ key: "a" }] as never })).toThrow(StateError);
    expect(() => encodeListRequest(kind, { labels: [oneOf("a", "\ud800")] })).toThrow("half a surrogate pair");
  });
});

describe("[transport X8] options that are missing", () => {
  test("are those of a plain list and a plain watch", () => {
    expect(decodeListRequest(toBinary(ListRequestSchema, create(ListRequestSchema, kind)))).toEqual({
      kind,
      query: {},
    });
    expect(decodeWatchRequest(toBinary(WatchRequestSchema, create(WatchRequestSchema, kind)))).toEqual({
      kind,
      id: undefined,
      query: {},
      options: {
        bootstrap: false,
        bootstrapBookmark: false,
        tailEvents: 0,
        startFromBookmark: undefined,
        aggregated: false,
      },
      apiVersion: 0,
    });
  });
});

describe("hostile queries", () => {
  test("are refused when they have too many parts", () => {
    const queries = (count: number) => ({ labelQuery: Array.from({ length: count }, () => ({})) });
    expect(list(queries(10_000)).labels?.length).toBe(10_000);
    expect(() => list(queries(10_001))).toThrow("at most 10000");
    const values = Array.from({ length: 10_001 }, () => "");
    expect(() => terms({ terms: [{ key: "a", op: Operation.IN, value: values }] })).toThrow(StateError);
  });

  test("keys may be names of the prototype", () => {
    const { labels } = terms({ terms: [{ key: "__proto__", op: Operation.EXISTS }] });
    expect(matches(labels, {})).toBe(false);
    expect(matches(terms({ terms: [{ key: "a", op: Operation.LT, value: ["b"] }] }).labels, { a: "a" })).toBe(true);
    expect(lessThan("a", "b").values).toEqual(["b"]);
  });
});

test("a negative number of past events is none", () => {
  const bytes = toBinary(
    WatchRequestSchema,
    create(WatchRequestSchema, { ...kind, id: "", options: { tailEvents: -3 } }),
  );
  expect(decodeWatchRequest(bytes)).toMatchObject({ id: "", options: { tailEvents: 0 } });
});
