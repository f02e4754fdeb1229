import { describe, expect, test } from "vitest";
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
} from "./state-error.ts";

const pointer = { namespace: "lab", type: "Disks.hw.example", id: "sda" };
const wrapped = (code: StateErrorCode) =>
  new Error("outer", { cause: new TypeError("middle", { cause: new StateError(code, "inner", { pointer }) }) });

describe("categories of errors", () => {
  test.for<[string, (error: unknown) => boolean, StateErrorCode[]]>([
    ["not found", isNotFound, ["not_found"]],
    [
      "conflict",
      isConflict,
      ["already_exists", "version_conflict", "owner_conflict", "phase_conflict", "pending_finalizers"],
    ],
    ["owner conflict", isOwnerConflict, ["owner_conflict"]],
    ["phase conflict", isPhaseConflict, ["phase_conflict"]],
    ["invalid bookmark", isInvalidBookmark, ["invalid_bookmark"]],
    ["unsupported", isUnsupported, ["unsupported"]],
  ])("%s is found through the whole chain of causes", ([, belongs, codes]) => {
    const all = Object.values(StateErrorCode);
    expect(all.filter((code) => belongs(wrapped(code)))).toEqual(all.filter((code) => codes.includes(code)));
    expect(all.filter((code) => belongs(new StateError(code, "x")))).toHaveLength(codes.length);
    for (const other of [undefined, null, "not_found", new Error("x"), { code: codes[0] }])
      expect(belongs(other)).toBe(false);
  });

  test("a conflict can be asked for by type and namespace", () => {
    const error = wrapped("version_conflict");
    expect(isConflict(error, { type: "Disks.hw.example" })).toBe(true);
    expect(isConflict(error, { type: "Disks.hw.example", namespace: "lab" })).toBe(true);
    expect(isConflict(error, { namespace: "home" })).toBe(false);
    expect(isConflict(error, { type: "Other" })).toBe(false);
    expect(isConflict(new StateError("version_conflict", "without a pointer"), { type: "Other" })).toBe(false);
  });

  test("a chain that bites its tail comes to an end", () => {
    const error = new Error("outer");
    error.cause = new Error("inner", { cause: error });
    expect(hasCode(error, "not_found")).toBe(false);
  });

  test("an error carries the address alone of what was given to it", () => {
    const longer = { ...pointer, version: "1", secret: 1 };
    const error = new StateError("not_found", "x", { pointer: longer });
    expect(error.pointer).toEqual(pointer);
    expect(error.name).toBe("StateError");
  });
});
