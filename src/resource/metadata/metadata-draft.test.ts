import { describe, expect, test } from "vitest";
import { createMetadata } from "./metadata.ts";
import { MetadataDraft } from "./metadata-draft.ts";
import { Phase } from "./phase.ts";

const base = createMetadata({
  namespace: "lab",
  type: "Disks.hw.example",
  id: "sda",
  version: "3",
  created: "2023-03-01T08:00:00Z",
  labels: { bus: "nvme" },
  annotations: { note: "x" },
  finalizers: ["A"],
});

describe("MetadataDraft", () => {
  test("[transport C13] [state 93] a finalizer is added once", () => {
    const draft = new MetadataDraft(base);
    expect(draft.addFinalizer("B")).toBe(true);
    expect(draft.addFinalizer("B")).toBe(false);
    expect(draft.seal().finalizers).toEqual(["A", "B"]);
  });

  test("shows the base, and seals to the base itself when nothing was changed", () => {
    const draft = new MetadataDraft(base);
    expect(draft).toMatchObject({ namespace: "lab", type: "Disks.hw.example", id: "sda", version: "3", owner: "" });
    expect(draft.labels).toEqual(base.labels);
    expect(draft.seal()).toBe(base);
  });

  test("seals to the base when all changes come to nothing", () => {
    const draft = new MetadataDraft(base);
    draft.labels["bus"] = "sata";
    draft.labels["bus"] = "nvme";
    delete draft.annotations["missing"];
    draft.phase = Phase.tearingDown;
    draft.phase = Phase.running;
    draft.addFinalizer("B");
    draft.removeFinalizer("B");
    draft.owner = "";
    expect(draft.seal()).toBe(base);
  });

  test("every part can be changed, and the base stays as it was", () => {
    const draft = new MetadataDraft(base);
    draft.labels["__proto__"] = "x";
    delete draft.labels["bus"];
    draft.annotations = { other: "y" };
    draft.finalizers = ["B", "C", "B"];
    draft.owner = "me";
    draft.phase = Phase.tearingDown;
    const sealed = draft.seal();
    expect(Object.entries(sealed.labels)).toEqual([["__proto__", "x"]]);
    expect(sealed.annotations).toEqual({ other: "y" });
    expect(sealed).toMatchObject({ version: "3", created: base.created, owner: "me", phase: "tearingDown" });
    expect(sealed.finalizers).toEqual(["B", "C"]);
    expect(Object.isFrozen(sealed.labels)).toBe(true);
    expect(base).toMatchObject({ labels: { bus: "nvme" }, annotations: { note: "x" }, finalizers: ["A"], owner: "" });
  });

  test("an object that was given to it is not shared", () => {
    const draft = new MetadataDraft(base);
    const labels: Record<string, string> = { a: "1" };
    draft.labels = labels;
    labels["a"] = "2";
    expect(draft.seal().labels).toEqual({ a: "1" });
  });

  test("an owner is set once", () => {
    const draft = new MetadataDraft(base);
    draft.owner = "me";
    draft.owner = "me";
    expect(() => (draft.owner = "other")).toThrow('is "me" and cannot become "other"');
    expect(() => (draft.owner = "")).toThrow('is "me" and cannot become ""');
    expect(() => (draft.owner = 1 as never)).toThrow("metadata.owner must be a string, got 1");
  });

  test("what has the wrong shape is refused when it is sealed, or at once", () => {
    const seal = (change: (draft: MetadataDraft) => void) => () => {
      const draft = new MetadataDraft(base);
      change(draft);
      draft.seal();
    };
    expect(seal((draft) => (draft.phase = "gone" as never))).toThrow('phase must be "running" or "tearingDown"');
    expect(seal((draft) => (draft.labels["a"] = 1 as never))).toThrow('metadata.labels: the value of "a" must be');
    expect(seal((draft) => (draft.labels = null as never))).toThrow(
      "metadata.labels: must be an object of strings, got null",
    );
    expect(seal((draft) => (draft.annotations = "ab" as never))).toThrow("metadata.annotations: must be an object");
    expect(seal((draft) => (draft.finalizers = [1 as never]))).toThrow("metadata.finalizers: a finalizer must be");
  });
});
