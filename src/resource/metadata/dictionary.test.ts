import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { copyDictionary, EMPTY_DICTIONARY, sameDictionary, sealDictionary, sortedKeys } from "./dictionary.ts";
import { createMetadata, sameMetadata, withMetadata } from "./metadata.ts";
import { MetadataDraft } from "./metadata-draft.ts";

const metadata = createMetadata({ namespace: "lab", type: "Disks.hw.example", id: "sda" });

describe.for(["labels", "annotations"] as const)("%s", (field) => {
  const change = (base: typeof metadata, fn: (entries: Record<string, string>) => void) => {
    const draft = new MetadataDraft(base);
    fn(draft[field]);
    return draft.seal();
  };
  const same = (a: typeof metadata, b: typeof metadata) => sameDictionary(a[field], b[field]) && sameMetadata(a, b);

  test(`${field === "labels" ? "[state 103]" : "[state 104]"} are set, read and deleted without a change to other copies`, () => {
    expect(Object.keys(metadata[field])).toEqual([]);
    const one = change(metadata, (entries) => (entries["a"] = "1"));
    expect(one[field]["a"]).toBe("1");
    expect(one[field]["b"]).toBeUndefined();
    expect("b" in one[field]).toBe(false);

    const copy = withMetadata(one, {});
    expect(same(copy, one)).toBe(true);
    const other = change(copy, (entries) => (entries["a"] = "2"));
    expect(same(other, one)).toBe(false);
    expect(one[field]["a"]).toBe("1");
    expect(change(one, (entries) => (entries["a"] = "1"))).toBe(one);
    expect(change(one, (entries) => delete entries["missing"])).toBe(one);
    const emptied = change(one, (entries) => delete entries["a"]);
    expect(same(emptied, one)).toBe(false);
    expect(copy[field]["a"]).toBe("1");
    expect(same(emptied, metadata)).toBe(true);
  });

  test("[state 106] many changes are made together", () => {
    const source = change(metadata, (entries) => Object.assign(entries, { b: "2", a: "1" }));
    const destination = change(metadata, (entries) => {
      for (const [key, value] of Object.entries(source[field])) entries[key] = value;
    });
    expect(same(source, destination)).toBe(true);

    const without = (entries: Record<string, string>) => {
      delete entries["a"];
      delete entries["b"];
    };
    const emptied = change(source, without);
    expect(same(emptied, destination)).toBe(false);
    expect(sortedKeys(destination[field])).toEqual(["a", "b"]);
    expect(same(emptied, change(destination, without))).toBe(true);

    const set = (entries: Record<string, string>) => Object.assign(entries, { a: "3", c: "4" });
    expect(same(change(source, set), destination)).toBe(false);
    expect(same(change(source, set), change(destination, set))).toBe(true);
  });
});

describe("dictionaries", () => {
  test("[state 105] two entries with other keys and the empty value are not equal", () => {
    expect(sameDictionary(sealDictionary({ a: "" }), sealDictionary({ b: "" }))).toBe(false);
  });

  test("have no prototype, so that every name is a key like any other", () => {
    const entries = sealDictionary(JSON.parse('{ "__proto__": "1", "constructor": "2" }') as Record<string, string>);
    expect(Object.getPrototypeOf(entries)).toBeNull();
    expect(Object.entries(entries)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
    ]);
    expect(entries["toString"]).toBeUndefined();
    expect(Object.getPrototypeOf(EMPTY_DICTIONARY)).toBeNull();
    const copy = copyDictionary({});
    copy["__proto__"] = "x";
    expect(Object.keys(copy)).toEqual(["__proto__"]);
  });

  test("are copied, unless they are sealed already", () => {
    const sealed = sealDictionary({ a: "1" });
    expect(sealDictionary(sealed)).toBe(sealed);
    expect(sealDictionary({})).toBe(EMPTY_DICTIONARY);
    const frozen = Object.freeze({ a: "1" });
    expect(Object.getPrototypeOf(sealDictionary(frozen))).toBeNull();
  });

  test("a getter is read once", () => {
    let reads = 0;
    const tricky = Object.create(null) as Record<string, string>;
    Object.defineProperty(tricky, "a", { enumerable: true, get: () => (reads++ === 0 ? "text" : 1) });
    const sealed = sealDictionary(Object.freeze(tricky));
    expect(sealed["a"]).toBe("text");
    expect(sealed["a"]).toBe("text");
  });

  const key = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "", "é", "😀", "～");
  const step = fc.oneof(
    fc.record({ do: fc.constant("set" as const), key, value: fc.constantFrom("", "1", "2") }),
    fc.record({ do: fc.constant("delete" as const), key }),
    fc.record({ do: fc.constant("seal" as const) }),
  );
  property.prop([fc.array(step, { maxLength: 20 })])("behave like a map", (steps) => {
    const model = new Map<string, string>();
    let sealed = EMPTY_DICTIONARY;
    let draft = copyDictionary(sealed);
    for (const one of steps) {
      if (one.do === "set") {
        model.set(one.key, one.value);
        draft[one.key] = one.value;
      } else if (one.do === "delete") {
        model.delete(one.key);
        delete draft[one.key];
      } else {
        sealed = sealDictionary(draft);
        draft = copyDictionary(sealed);
        expect(new Map(Object.entries(sealed))).toEqual(model);
        expect(sortedKeys(sealed)).toEqual(
          [...model.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }
    }
    expect(new Map(Object.entries(draft))).toEqual(model);
  });

  const dictionary = fc.dictionary(key, fc.constantFrom("", "1"), { maxKeys: 3 });
  property.prop([dictionary, dictionary])("are equal when the maps are", (a, b) => {
    const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
    const same = left.length === right.size && left.every(([name, value]) => right.get(name) === value);
    expect(sameDictionary(sealDictionary(a), sealDictionary(b))).toBe(same);
  });
});
