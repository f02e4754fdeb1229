import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { createMetadata, Phase, sameMetadata, StateError, withMetadata } from "../resource/index.ts";
import { formatMetadata, parseMetadata } from "./metadata-yaml.ts";
import { YamlError } from "./yaml-error.ts";

const bare = createMetadata({
  namespace: "lab",
  type: "Disks.hw.example",
  id: "sda",
  version: "1",
  created: "2023-03-01T08:00:00.999999999Z",
  updated: "2023-03-01T10:05:30.5+02:00",
});
const BARE = `namespace: lab
type: Disks.hw.example
id: sda
version: 1
owner:
phase: running
created: 2023-03-01T08:00:00Z
updated: 2023-03-01T08:05:30Z
`;
const owned = withMetadata(bare, { owner: "DiskController", finalizers: ['"MountController"', "PoolController"] });
const FINALIZERS = `finalizers:
    - '"MountController"'
    - PoolController
`;
const labeled = withMetadata(owned, { labels: { slots: "2", bus: "nvme", removable: "", "～": "a", "😀": "b" } });
const LABELS = `labels:
    bus: nvme
    removable:
    slots: 2
    ～: a
    😀: b
`;
const annotated = withMetadata(labeled, { annotations: { note: "checked: yes", b: "true", a: "1.0" } });
const ANNOTATIONS = `annotations:
    a: 1.0
    b: true
    note: 'checked: yes'
`;
const OWNED = BARE.replace("owner:\n", "owner: DiskController\n");

describe("formatMetadata", () => {
  test("[transport C11] [state 96] writes eight lines for bare metadata", () => {
    expect(formatMetadata(bare)).toBe(BARE);
    expect(formatMetadata(bare).trimEnd().split("\n")).toHaveLength(8);
    expect(sameMetadata(parseMetadata(formatMetadata(bare)), bare)).toBe(true);
  });

  test("[transport C11] [state 97] writes owner and finalizers, in quotes where YAML needs them", () => {
    expect(formatMetadata(owned)).toBe(OWNED + FINALIZERS);
    expect(sameMetadata(parseMetadata(formatMetadata(owned)), owned)).toBe(true);
  });

  test("[transport C11] [state 98] writes labels in the order of their keys, before finalizers", () => {
    expect(formatMetadata(labeled)).toBe(OWNED + LABELS + FINALIZERS);
    expect(sameMetadata(parseMetadata(formatMetadata(labeled)), labeled)).toBe(true);
  });

  test("[transport C11] [state 99] writes annotations in the order of their keys, between labels and finalizers", () => {
    expect(formatMetadata(annotated)).toBe(OWNED + LABELS + ANNOTATIONS + FINALIZERS);
    expect(sameMetadata(parseMetadata(formatMetadata(annotated)), annotated)).toBe(true);
  });

  test("writes values plain wherever it can, lines as blocks, and folds nothing", () => {
    const long = "word ".repeat(100).trim();
    const annotations = { a: "null", b: "~", c: "010", d: "one\ntwo\n", e: "it's", f: "#", g: long, h: " x" };
    expect(formatMetadata(withMetadata(bare, { annotations }))).toBe(`${BARE}annotations:
    a: null
    b: ~
    c: 010
    d: |
        one
        two
    e: it's
    f: '#'
    g: ${long}
    h: ' x'
`);
  });

  const word = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "",
      "true",
      "null",
      "~",
      "- a",
      "a: b",
      "#",
      "'",
      '"',
      "|",
      ">-",
      "\n",
      "a\n",
      "\na",
      " a ",
      "\t",
      "\r\n",
      "---",
      "...",
      "{}",
      "[a]",
      "&a",
      "*a",
      "!t",
      "%d",
      "@",
      "`",
      "?",
      ": ",
      "<<",
      "\u0085",
      "\u2028",
      "\uFEFF",
      "\0",
      "\x7f",
      "a\n---\nb",
      "  \n  x\n",
    ),
    fc
      .array(fc.constantFrom("a", " ", "\n", "#", ":", "-", '"', "'", "\t", "\r", "é"), { maxLength: 8 })
      .map((parts) => parts.join("")),
  );
  const dictionary = fc.dictionary(word, word, { maxKeys: 3 });
  const init = fc.record({
    namespace: word,
    type: word,
    id: word,
    version: fc.constantFrom("undefined", "7"),
    owner: word,
    phase: fc.constantFrom(Phase.running, Phase.tearingDown),
    finalizers: fc.array(word, { maxLength: 3 }),
    labels: dictionary,
    annotations: dictionary,
  });
  property.prop([init], { numRuns: 200 })("is read back by parseMetadata", (given) => {
    const metadata = createMetadata(given);
    const text = formatMetadata(metadata);
    expect(parseMetadata(text)).toEqual(metadata);
  });
});

describe("parseMetadata", () => {
  test("takes values as they are written, whatever YAML would make of them", () => {
    const text = `
version: 0012
id: 1e3
owner: null
namespace: yes
type: 0x1F
labels: { a: 1.0, b: true, c: 007, d: , e: ~, f: "x\\n", 1: one }
finalizers: [1, true]
`;
    const metadata = parseMetadata(text);
    expect(metadata).toMatchObject({ version: "12", id: "1e3", owner: "null", namespace: "yes", type: "0x1F" });
    expect({ ...metadata.labels }).toEqual({ a: "1.0", b: "true", c: "007", d: "", e: "~", f: "x\n", 1: "one" });
    expect(metadata.finalizers).toEqual(["1", "true"]);
  });

  test("passes over unknown keys, and fills missing ones with those of new metadata", () => {
    expect(parseMetadata("id: a\nother: { x: [1] }\n")).toEqual(createMetadata({ namespace: "", type: "", id: "a" }));
    expect(parseMetadata("{}")).toMatchObject({ version: "undefined", phase: "running", owner: "" });
  });

  test("reads fractions of seconds and offsets", () => {
    expect(parseMetadata("created: 2023-03-01T08:00:00.123456789+02:00").created).toBe(
      "2023-03-01T08:00:00.123456789+02:00",
    );
  });

  test.for<[string, string]>([
    ["", "line 1, column 1: must be a mapping, got nothing"],
    ["- a", "line 1, column 1: must be a mapping, got a list"],
    ["text", "line 1, column 1: must be a mapping, got a single value"],
    ["id: a\n---\nid: b", "line 2, column 1: "],
    ["id: a\nversion: x", 'line 2, column 10: version: must be "undefined" or a decimal number of 64 bits, got "x"'],
    ["version:", 'line 1, column 9: version: must be "undefined" or a decimal number of 64 bits, got ""'],
    ["phase: gone", 'line 1, column 8: phase: must be "running" or "tearingDown", got "gone"'],
    [
      "created: today",
      'line 1, column 10: created: must be an RFC 3339 time such as 1970-01-01T00:00:00Z, got "today"',
    ],
    ["id: [a]", "line 1, column 5: id: must be a single value, got a list"],
    ["labels: a", "line 1, column 9: labels: must be a mapping, got a single value"],
    ["labels:\n  a:\n    b: c", "line 3, column 5: labels.a: must be a single value, got a mapping"],
    ["labels: { [a]: b }", "line 1, column 11: labels: must be a key, got a list"],
    ["labels: { a: 1, a: 2 }", "line 1, column 17: labels.a: the key is there twice"],
    ["finalizers: a", "line 1, column 13: finalizers: must be a list, got a single value"],
    ["finalizers:\n  - a\n  - { b: c }", "line 3, column 5: finalizers[1]: must be a single value, got a mapping"],
    ["id: a\nid: b", "line 2, column 1: id: the key is there twice"],
    ["id: !thing a", "line 1, column 12: id: the tag !thing is not supported"],
    ["id: *a", "line 1, column 5: id: there is no anchor &a before this alias"],
    ['id: "a', "line 1, column "],
    ["id: a\n\tb: c", "line 2, column 1: "],
  ])("says where %j is wrong", ([text, message]) => {
    expect(() => parseMetadata(text)).toThrow(YamlError);
    expect(() => parseMetadata(text)).toThrow(StateError);
    expect(() => parseMetadata(text)).toThrow(new RegExp(`^${message.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`));
  });

  test("names the file, and counts from the line on which the text starts in it", () => {
    const parse = () => parseMetadata("phase: x", { file: "disks.yaml", firstLine: 10 });
    expect(parse).toThrow("disks.yaml:10:8: phase: must be");
    expect(parse).toThrow(
      expect.objectContaining({ file: "disks.yaml", line: 10, column: 8, field: "phase", code: "invalid" }),
    );
  });
});
