import { describe, expect, test } from "vitest";
import { isConflict, isNotFound } from "../../resource/index.ts";
import { Access } from "./access.ts";

const access = new Access(
  "Me",
  [
    { kind: "weak", namespace: "ns", type: "Weak", id: undefined },
    { kind: "strong", namespace: "ns", type: "Strong", id: undefined },
    { kind: "strong", namespace: "ns", type: "One", id: "x" },
    { kind: "weak", namespace: "ns", type: "One", id: "y" },
    { kind: "destroyReady", namespace: "ns", type: "Out", id: undefined },
  ],
  [{ type: "Out", kind: "exclusive" }],
);

describe("Access", () => {
  test("lets outputs be read and written in any namespace, their finalizers not", () => {
    expect(access.refuseRead("anywhere", "Out", "x")).toBeUndefined();
    expect(access.refuseRead("anywhere", "Out")).toBeUndefined();
    expect(access.refuseWrite("create", "anywhere", "Out", "x")).toBeUndefined();
    expect(access.refuseFinalizer("ns", "Out", "x")).toMatchObject({ code: "undeclared_finalizer" });
  });

  test("lets inputs be read in their namespace; a list needs the whole kind", () => {
    expect(access.refuseRead("ns", "Weak", "x")).toBeUndefined();
    expect(access.refuseRead("ns", "Weak")).toBeUndefined();
    expect(access.refuseRead("ns", "One", "x")).toBeUndefined();
    expect(access.refuseRead("ns", "One", "z")).toMatchObject({ code: "undeclared_read" });
    expect(access.refuseRead("ns", "One")).toMatchObject({ code: "undeclared_read" });
    expect(access.refuseRead("other", "Weak", "x")).toMatchObject({ code: "undeclared_read" });
  });

  test("lets finalizers of strong inputs be changed, by id where the input has one", () => {
    expect(access.refuseFinalizer("ns", "Strong", "x")).toBeUndefined();
    expect(access.refuseFinalizer("ns", "One", "x")).toBeUndefined();
    expect(access.refuseFinalizer("ns", "One", "y")).toMatchObject({ code: "undeclared_finalizer" });
    expect(access.refuseFinalizer("ns", "Weak", "x")).toMatchObject({ code: "undeclared_finalizer" });
    expect(access.refuseFinalizer("other", "Strong", "x")).toMatchObject({ code: "undeclared_finalizer" });
  });

  test("names controller, namespace, type and operation, and is no error of a State", () => {
    const error = access.refuseWrite("update", "ns", "Weak", "x");
    expect(error).toMatchObject({
      code: "undeclared_write",
      controller: "Me",
      pointer: { namespace: "ns", type: "Weak", id: "x" },
    });
    expect(error?.message).toMatch(/"Me".*Weak in "ns" is not an output; update attempted on "x"/);
    expect(access.refuseRead("ns", "None")?.message).toMatch(/"Me".*None in "ns".*neither input nor output/);
    expect([isNotFound(error), isConflict(error)]).toEqual([false, false]);
  });
});
