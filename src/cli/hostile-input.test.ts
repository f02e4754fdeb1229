import { withoutControls } from "../internal/visible-text.ts";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { createResource, OpaqueSpec, StateError, type Resource } from "../resource/index.ts";
import { parseManifests } from "../yaml/index.ts";
import { CliError } from "./cli-error.ts";
import { reportFailure } from "./failure.ts";
import { NamePrinter } from "./print/name-printer.ts";
import { JsonPrinter } from "./print/json-printer.ts";
import { looseType } from "./apply/loose-type.ts";
import { describeMistakes } from "./apply/manifest-mistakes.ts";
import { undescribedKind } from "./args/named-kind.ts";
import type { Output } from "./output.ts";
import { compilePath } from "./print/path-query.ts";
import type { PrinterOptions } from "./print/printer.ts";
import { openTablePrinter } from "./print/table-printer.ts";
import { YamlPrinter } from "./print/yaml-printer.ts";

const word = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\u001b[2J", "\u0007", "\u009b31m", "\r", "\n", "\t", "\u202e", "日本", "👩‍💻", "__proto__", "a: b"),
  fc
    .array(fc.constantFrom(".", "[", "]", "{", "}", "*", "'", '"', "\\", "a", "-", "?", "(", ")", "@", "$", "0", ":"))
    .map((parts) => parts.join("")),
);

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;

function terminal(): { readonly output: Output; text: string } {
  const record = { text: "", output: undefined as unknown as Output };
  record.output = {
    isTerminal: true,
    write: async (text) => {
      record.text += text;
    },
  };
  return record;
}

const options = (stdout: Output): PrinterOptions => ({
  format: { kind: "yaml" },
  stdout,
  stderr: stdout,
  color: false,
  withHeaders: true,
  showSensitive: false,
  withNodes: false,
  isWatch: false,
  clock: new ManualClock(),
});

/** What a peer may send. */
const resource: fc.Arbitrary<Resource> = fc
  .record({ id: word, label: word, value: word, yaml: fc.option(word, { nil: undefined }) })
  .map(({ id, label, value, yaml }) =>
    createResource(
      {
        namespace: value,
        type: "Guests.hotel.example",
        id,
        labels: { [label]: value },
        annotations: { [value]: label },
      },
      yaml === undefined ? { [label]: value } : new OpaqueSpec({ yaml, bytes: new Uint8Array(1) }),
    ),
  );

describe("what comes from elsewhere", () => {
  property.prop([fc.array(resource, { maxLength: 4 }), word, word])(
    "is shown in a table of one line each, without a command for the terminal",
    async (resources, name, jsonPath) => {
      const screen = terminal();
      const kind = { ...undescribedKind("Guests.hotel.example"), columns: [{ name: `c${name}`, jsonPath }] };
      const printer = await openTablePrinter(kind, true, options(screen.output));
      screen.text = "";
      await printer.list(
        resources.map((one) => ({ node: undefined, kind, resource: one })),
        true,
      );
      expect(screen.text.split("\n")).toHaveLength(resources.length === 0 ? 1 : resources.length + 2);
      expect(screen.text).not.toMatch(CONTROL);
    },
  );

  property.prop([resource])("has no command for the terminal in JSON and YAML either", async (one) => {
    const kind = undescribedKind("Guests.hotel.example");
    for (const Printer of [JsonPrinter, YamlPrinter]) {
      const screen = terminal();
      await new Printer(options(screen.output)).list([{ node: undefined, kind, resource: one }], false);
      expect(screen.text).not.toMatch(CONTROL);
    }
  });

  property.prop([word, fc.boolean()], { numRuns: 500 })(
    "a path is one, or a mistake that is told",
    async (path, isForeign) => {
      const query = await compilePath(path, isForeign).catch((error: unknown) => error);
      if (typeof query === "function") expect(query({ a: [{ b: 1 }] })).toBeInstanceOf(Array);
      else expect(query).toBeInstanceOf(CliError);
    },
  );

  property.prop([word, word])("the text of an error finds a place, or none", async (before, path) => {
    const type = looseType(undescribedKind("Guests.hotel.example"));
    const text = "metadata: { type: Guests.hotel.example, id: a }\nspec: { a: 1 }\n";
    const manifests = await parseManifests(text, { types: [type] });
    const [manifest] = manifests.resources;
    if (manifest === undefined) throw new Error("the manifest is not read");
    const error = new StateError("invalid", `${before}: spec${path}: is bad; spec.a: is worse`);
    const told = describeMistakes(error, manifest, manifests);
    expect(told.length).toBeGreaterThan(0);
    for (const line of told) expect(line).toMatch(/^line [12], column \d+: /);
  });

  property.prop([word, word])("an error is told on one line, whatever it says", async (message, cause) => {
    for (const error of [
      new StateError("invalid", message),
      new CliError(1, `node a: ${message}`, { cause: new Error(cause) }),
    ]) {
      const screen = terminal();
      await reportFailure(screen.output, error);
      expect(screen.text).toMatch(/^homeostat: [^\n]*\n$/);
      expect(screen.text).not.toMatch(CONTROL);
    }
    const screen = terminal();
    await reportFailure(screen.output, new Error(`${message}\n    at fake (fake.ts:1:1)`));
    expect(screen.text).toMatch(/^homeostat: [^\n]*\n(?: {4}at [^\n]*\n)+$/);
    expect(screen.text).not.toMatch(/^ {4}at fake/m);
  });

  property.prop([resource])("the name of a resource is one line, also in a pipe", async (one) => {
    const screen = terminal();
    const pipe = { ...screen.output, isTerminal: false };
    await new NamePrinter({ ...options(pipe), format: { kind: "name" } }).list([
      { node: undefined, kind: undescribedKind("Guests.hotel.example"), resource: one },
    ]);
    expect(screen.text).toMatch(/^Guests\.hotel\.example\/[^\n]*\n$/);
    expect(screen.text).not.toMatch(CONTROL);
  });

  test("an error of any length takes no time", async () => {
    const manifests = await parseManifests("metadata: { type: Guests.hotel.example, id: a }\n", {
      types: [looseType(undescribedKind("Guests.hotel.example"))],
    });
    const [manifest] = manifests.resources;
    if (manifest === undefined) throw new Error("the manifest is not read");
    const error = new StateError("invalid", 'spec["'.repeat(1_000_000));
    expect(describeMistakes(error, manifest, manifests)).toHaveLength(1);
  });

  property.prop([fc.string({ unit: "binary" })])("withoutControls keeps everything else", (text) => {
    const shown = withoutControls(text);
    expect(shown).not.toMatch(CONTROL);
    expect(shown.replaceAll(/\\u[0-9a-f]{4}/g, "").length).toBeLessThanOrEqual(text.length);
  });
});
