import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { WireError } from "../wire/index.ts";
import {
  hasCode,
  isConflict,
  isInvalidBookmark,
  isNotFound,
  isOwnerConflict,
  isPhaseConflict,
  isUnsupported,
  StateError,
  StateErrorCode,
} from "../resource/index.ts";
import { fromGrpcError } from "./client-error.ts";
import { decodeErrorDetails, encodeErrorDetails } from "./error-details.ts";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "./gen/google/rpc/status_pb.ts";
import { Rpc } from "./rpc.ts";
import { toGrpcError } from "./server-error.ts";
import { GrpcError, Metadata, Status } from "../rpc/index.ts";

const pointer = { namespace: "lab", type: "Disks.hw.example", id: "sda" };
const RPCS = Object.values(Rpc);
const CODES = Object.values(StateErrorCode);
const refusal = (code: StateErrorCode): StateError => new StateError(code, `refused: ${code}`, { pointer });

/** As it arrives at a client, with or without the details. */
const received = (error: GrpcError, withDetails: boolean): GrpcError =>
  new GrpcError(error.code, error.message, withDetails ? { details: error.details } : {});

describe("a refusal of a State", () => {
  // By category: the status of each method in the order Get, List, Create, Update, Destroy, Watch, Teardown, both.
  test.each<[StateErrorCode, readonly number[]]>([
    ["not_found", [5, 5, 5, 5, 5, 2, 5, 5]],
    ["owner_conflict", [2, 2, 7, 7, 7, 2, 7, 7]],
    ["phase_conflict", [2, 2, 6, 3, 9, 2, 9, 9]],
    ["already_exists", [2, 2, 6, 9, 9, 2, 9, 9]],
    ["version_conflict", [2, 2, 6, 9, 9, 2, 9, 9]],
    ["pending_finalizers", [2, 2, 6, 9, 9, 2, 9, 9]],
    ["invalid_bookmark", [2, 2, 2, 2, 2, 9, 2, 2]],
    ["unsupported", [2, 12, 2, 2, 2, 12, 2, 2]],
    ["invalid", [3, 3, 3, 2, 3, 3, 3, 3]],
    ["type_mismatch", [3, 3, 3, 2, 3, 3, 3, 3]],
    ["unavailable", [14, 14, 14, 14, 14, 14, 14, 14]],
    ["watch_overrun", [2, 2, 2, 2, 2, 2, 2, 2]],
  ])("of category %s ends each method with its status", (code, statuses) => {
    expect(RPCS.map((rpc) => toGrpcError(refusal(code), rpc).code)).toEqual(statuses);
  });

  test.each(CODES)("[transport X10] of category %s is told apart by our client, on every method", (code) => {
    for (const rpc of RPCS) {
      const error = fromGrpcError(received(toGrpcError(refusal(code), rpc), true), rpc, undefined);
      expect(error).toBeInstanceOf(StateError);
      expect(error).toMatchObject({ code, message: `refused: ${code}`, pointer });
      expect((error as StateError).cause).toBeInstanceOf(GrpcError);
    }
  });

  test("[transport X10] unsupported, access denied and owner conflict are three things", () => {
    const through = (error: unknown) =>
      fromGrpcError(received(toGrpcError(error, Rpc.create), true), Rpc.create, pointer);
    expect(isUnsupported(through(refusal("unsupported")))).toBe(true);
    const foreign = encodeForeign("PERMISSION_DENIED", "auth.example.dev");
    const denied = through(new GrpcError(Status.permissionDenied, "not yours", { details: foreign }));
    expect(denied).toBeInstanceOf(GrpcError);
    expect(isConflict(denied)).toBe(false);
    expect(isOwnerConflict(through(refusal("owner_conflict")))).toBe(true);
    for (const error of [through(refusal("unsupported")), denied]) expect(isOwnerConflict(error)).toBe(false);
  });

  test("is found behind causes, and a cycle of causes ends", () => {
    const wrapped = new Error("outer", { cause: new Error("inner", { cause: refusal("not_found") }) });
    expect(toGrpcError(wrapped, Rpc.get).code).toBe(Status.notFound);
    const cycle = new Error("cycle");
    cycle.cause = cycle;
    expect(toGrpcError(cycle, Rpc.get)).toMatchObject({ code: Status.unknown, message: "cycle" });
  });

  test("has a text that fits into a header", () => {
    const error = new StateError("invalid", `\ud800${"ä".repeat(100_000)}`, {
      pointer: { ...pointer, id: "x".repeat(100_000) },
    });
    const sent = toGrpcError(error, Rpc.create);
    expect(sent.message.length).toBeLessThanOrEqual(2001);
    expect(sent.message.isWellFormed()).toBe(true);
    expect(sent.details.length).toBeLessThan(6000);
    expect(decodeErrorDetails(sent.details)).toEqual({ code: "invalid", pointer: undefined });
  });
});

describe("other failures on a server", () => {
  test.each([
    ["an error with a status keeps it", new GrpcError(Status.unauthenticated, "who are you?"), Status.unauthenticated],
    [
      "also behind a cause",
      new Error("outer", { cause: new GrpcError(Status.permissionDenied, "no") }),
      Status.permissionDenied,
    ],
    ["an abort is CANCELLED", new DOMException("stop", "AbortError"), Status.cancelled],
    ["a timeout is DEADLINE_EXCEEDED", new DOMException("late", "TimeoutError"), Status.deadlineExceeded],
    ["anything else is UNKNOWN, with its text", new RangeError("nobody expects this"), Status.unknown],
    ["something that is no error as well", "text", Status.unknown],
  ])("%s", (_, error, status) => {
    expect(toGrpcError(error, Rpc.update).code).toBe(status);
  });

  test("bytes that are no message are INTERNAL", () => {
    expect(toGrpcError(new WireError("cut short"), Rpc.update)).toMatchObject({
      code: Status.internal,
      message: "cut short",
    });
  });

  test("what another server sent along besides its status and details stays here", () => {
    const details = encodeForeign("X", "y");
    const error = new GrpcError(Status.notFound, "no", { details, metadata: new Metadata({ secret: "token" }) });
    const sent = toGrpcError(error, Rpc.get);
    expect([...sent.metadata.names()]).toEqual([]);
    expect(sent.details).toBe(details);
  });
});

describe("an answer without details", () => {
  const category = (rpc: Rpc, status: Status): StateErrorCode | undefined => {
    const error = fromGrpcError(new GrpcError(status, "text"), rpc, pointer);
    if (!(error instanceof StateError)) {
      expect(error).toMatchObject({ code: status, message: "text" });
      return undefined;
    }
    expect(error).toMatchObject({ message: "text", pointer });
    return error.code;
  };

  test.each<[string, Status, Partial<Record<Rpc, StateErrorCode>>]>([
    [
      "NOT_FOUND",
      Status.notFound,
      {
        Get: "not_found",
        List: "not_found",
        Create: "not_found",
        Update: "not_found",
        Destroy: "not_found",
        Teardown: "not_found",
        TeardownAndDestroy: "not_found",
      },
    ],
    [
      "PERMISSION_DENIED",
      Status.permissionDenied,
      {
        Create: "owner_conflict",
        Update: "owner_conflict",
        Destroy: "owner_conflict",
        Teardown: "owner_conflict",
        TeardownAndDestroy: "owner_conflict",
      },
    ],
    ["ALREADY_EXISTS", Status.alreadyExists, { Create: "already_exists" }],
    ["INVALID_ARGUMENT", Status.invalidArgument, { Update: "phase_conflict" }],
    [
      "FAILED_PRECONDITION",
      Status.failedPrecondition,
      {
        Update: "version_conflict",
        Destroy: "pending_finalizers",
        Teardown: "version_conflict",
        TeardownAndDestroy: "pending_finalizers",
        Watch: "invalid_bookmark",
      },
    ],
    ["UNIMPLEMENTED", Status.unimplemented, {}],
    ["UNKNOWN", Status.unknown, {}],
    ["CANCELLED", Status.cancelled, {}],
    ["RESOURCE_EXHAUSTED", Status.resourceExhausted, {}],
  ])("[transport X10] %s means what Go's servers mean by it", (_, status, expected) => {
    expect(Object.fromEntries(RPCS.map((rpc) => [rpc, category(rpc, status)]))).toEqual(
      Object.fromEntries(RPCS.map((rpc) => [rpc, expected[rpc]])),
    );
  });

  test("UNAVAILABLE is a category of its own, on every method, and keeps its status behind it", () => {
    for (const rpc of RPCS) {
      const error = fromGrpcError(new GrpcError(Status.unavailable, "gone"), rpc, pointer);
      expect(hasCode(error, "unavailable")).toBe(true);
      expect((error as StateError).cause).toMatchObject({ code: Status.unavailable });
    }
  });

  test("every category that the methods can tell apart comes through", () => {
    const through = (code: StateErrorCode, rpc: Rpc) =>
      fromGrpcError(received(toGrpcError(refusal(code), rpc), false), rpc, pointer);
    expect(isNotFound(through("not_found", Rpc.get))).toBe(true);
    expect(isOwnerConflict(through("owner_conflict", Rpc.destroy))).toBe(true);
    expect(isPhaseConflict(through("phase_conflict", Rpc.update))).toBe(true);
    expect(isInvalidBookmark(through("invalid_bookmark", Rpc.watch))).toBe(true);
    for (const [code, rpc] of [
      ["already_exists", Rpc.create],
      ["version_conflict", Rpc.update],
      ["pending_finalizers", Rpc.destroy],
    ] as const) {
      expect(hasCode(through(code, rpc), code)).toBe(true);
      expect(isConflict(through(code, rpc), { namespace: "lab", type: "Disks.hw.example" })).toBe(true);
    }
    // Nothing wrong with a resource is taken for a conflict of phases.
    expect(isConflict(through("invalid", Rpc.update))).toBe(false);
  });

  test("an error that is none of gRPC's stays as it is", () => {
    const error = new TypeError("x");
    expect(fromGrpcError(error, Rpc.get, pointer)).toBe(error);
  });
});

describe("details", () => {
  test("are those of google.rpc, which others read as well", () => {
    const { details } = toGrpcError(refusal("owner_conflict"), Rpc.update);
    const status = fromBinary(StatusSchema, details);
    expect(status).toMatchObject({ code: Status.permissionDenied, message: "refused: owner_conflict" });
    const [detail] = status.details;
    expect(detail?.typeUrl).toBe("type.googleapis.com/google.rpc.ErrorInfo");
    expect(detail && anyUnpack(detail, ErrorInfoSchema)).toMatchObject({
      reason: "OWNER_CONFLICT",
      domain: "homeostat",
      metadata: pointer,
    });
  });

  test("of others say nothing about a State, but may stand beside ours", () => {
    expect(decodeErrorDetails(encodeForeign("NOT_FOUND", "other.example"))).toBeUndefined();
    expect(decodeErrorDetails(encodeForeign("NO_SUCH_REASON", "homeostat"))).toBeUndefined();
    const time = anyPack(TimestampSchema, create(TimestampSchema));
    const ours = fromBinary(StatusSchema, encodeErrorDetails(Status.notFound, "x", "not_found", pointer));
    const mixed = toBinary(StatusSchema, create(StatusSchema, { details: [time, ...ours.details] }));
    expect(decodeErrorDetails(mixed)).toEqual({ code: "not_found", pointer });
  });

  test.each([Status.permissionDenied, Status.invalidArgument])(
    "of others keep status %i from being taken for a conflict",
    (status) => {
      for (const details of [encodeForeign("X", "other.example"), Uint8Array.of(0xff, 0xff)]) {
        for (const rpc of RPCS) {
          expect(fromGrpcError(new GrpcError(status, "x", { details }), rpc, pointer)).toBeInstanceOf(GrpcError);
        }
      }
    },
  );

  property.prop([fc.uint8Array({ maxLength: 200 })])("may be any bytes", (bytes) => {
    expect(() => decodeErrorDetails(bytes)).not.toThrow();
  });

  property.prop([fc.constantFrom(...CODES), fc.record({ namespace: fc.string(), type: fc.string(), id: fc.string() })])(
    "come back as they were",
    (code, of) => {
      expect(decodeErrorDetails(encodeErrorDetails(Status.unknown, "x", code, of))).toEqual({ code, pointer: of });
    },
  );
});

function encodeForeign(reason: string, domain: string): Uint8Array {
  const detail = anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason, domain }));
  return toBinary(StatusSchema, create(StatusSchema, { details: [detail] }));
}
