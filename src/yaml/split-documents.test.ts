import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { splitDocuments } from "./split-documents.ts";

const split = (stream: string) => splitDocuments(stream).map(({ text, firstLine }) => [firstLine, text]);

describe("splitDocuments", () => {
  test.for<[string, [number, string][]]>([
    ["", []],
    ["# nothing\n\n---\n---\n...\n", []],
    ["a: 1", [[1, "a: 1"]]],
    [
      "a: 1\n---\nb: 2\n",
      [
        [1, "a: 1\n"],
        [2, "---\nb: 2\n"],
      ],
    ],
    ["---\na: 1\n...\n# end\n", [[1, "---\na: 1\n"]]],
    [
      "a: 1\r\n---\r\nb: 2\r\n",
      [
        [1, "a: 1\r\n"],
        [2, "---\r\nb: 2\r\n"],
      ],
    ],
    [
      "--- {a: 1}\n--- |\n  text\n",
      [
        [1, "--- {a: 1}\n"],
        [2, "--- |\n  text\n"],
      ],
    ],
    [
      "# one\n%YAML 1.2\n---\na: 1\n...\n%TAG ! x\n--- b\n",
      [
        [1, "# one\n%YAML 1.2\n---\na: 1\n"],
        [6, "%TAG ! x\n--- b\n"],
      ],
    ],
    ["a: |\n  ---\n  x\nb: '---'\n----\n", [[1, "a: |\n  ---\n  x\nb: '---'\n----\n"]]],
    [
      'a: "open\n---\nb: 2\n',
      [
        [1, 'a: "open\n'],
        [2, "---\nb: 2\n"],
      ],
    ],
    ["%YAML 1.2\n---\n---\na: 1\n", [[3, "---\na: 1\n"]]],
    ["\uFEFFa: 1\n", [[1, "\uFEFFa: 1\n"]]],
  ])("%j", ([stream, documents]) => expect(split(stream)).toEqual(documents));

  const line = fc.constantFrom(
    "a: 1",
    "- x",
    "---",
    "--- b",
    "...",
    "# c",
    "",
    "  d: 2",
    "%YAML 1.2",
    "|",
    "  ---",
    "'q'",
  );
  property.prop([fc.array(line, { maxLength: 12 })], { numRuns: 500 })(
    "loses no line with content, and keeps the numbers of lines",
    (lines) => {
      const stream = lines.join("\n");
      for (const { text, firstLine } of splitDocuments(stream)) {
        const part = text.replace(/\n$/, "").split("\n");
        expect(lines.slice(firstLine - 1, firstLine - 1 + part.length)).toEqual(part);
      }
      const content = (all: readonly string[]) =>
        all.filter((one) => /^[^%#]/.test(one) && one !== "---" && one !== "...");
      expect(content(splitDocuments(stream).flatMap(({ text }) => text.split("\n")))).toEqual(content(lines));
    },
  );

  property.prop([
    fc.array(fc.constantFrom("a: 1\n", "- x\n", "---\n", "...\n", "# c\n", "\n", "%YAML 1.2\n---\n"), {
      maxLength: 10,
    }),
  ])("agrees with the parser where the stream has no mistakes", (lines) => {
    const stream = lines.join("");
    const parsed = parseAllDocuments(stream);
    if (!Array.isArray(parsed) || parsed.some(({ errors }) => errors.length > 0)) return;
    const values = parsed.map((document) => JSON.stringify(document)).filter((value) => value !== "null");
    const parts = splitDocuments(stream).flatMap(({ text }) => parseAllDocuments(text) as { toJSON(): unknown }[]);
    expect(parts.map((document) => JSON.stringify(document))).toEqual(values);
  });
});
