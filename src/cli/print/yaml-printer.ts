import { onOneLine } from "../../internal/visible-text.ts";
import { OpaqueSpec, type Resource } from "../../resource/index.ts";
import { describeFailure } from "../failure.ts";
import { writeForeign } from "../output.ts";
import {
  isHidden,
  type Printer,
  type PrinterOptions,
  type Shown,
  type ShownEvent,
  type ShownMarker,
} from "./printer.ts";

/** The YAML of a resource without its spec, and a comment that says why. */
async function withoutSpec(resource: Resource, reason: string): Promise<string> {
  const { formatMetadata } = await import("../../yaml/index.ts");
  const metadata = formatMetadata(resource.metadata).replaceAll(/^(?=.)/gm, "    ");
  return `metadata:\n${metadata}# spec: ${reason}\n`;
}

/** The YAML of a resource as it is shown: an opaque spec in the words of the peer, a hidden one left out. */
export async function formatShown(shown: Shown, options: Pick<PrinterOptions, "showSensitive">): Promise<string> {
  const { resource } = shown;
  if (isHidden(shown, options))
    return withoutSpec(resource, "hidden, the type is sensitive; --show-sensitive shows it");
  const { spec } = resource;
  if (spec instanceof OpaqueSpec && (spec.yaml ?? "").trim() === "") {
    const reason = spec.byteLength === 0 ? "empty" : `${spec.byteLength} bytes that came without YAML`;
    return withoutSpec(resource, reason);
  }
  const { formatResource } = await import("../../yaml/index.ts");
  try {
    return formatResource(resource);
  } catch (error) {
    // One resource that a peer wrote badly must not hide the others.
    return withoutSpec(resource, `cannot be shown: ${onOneLine(describeFailure(error))}`);
  }
}

/** A stream of YAML documents; in a watch each of them starts with the event. */
export class YamlPrinter implements Printer {
  readonly #options: PrinterOptions;
  #isFirst = true;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  async list(shown: readonly Shown[]): Promise<void> {
    for (const one of shown) await this.#document(one, await formatShown(one, this.#options));
  }

  async events(shown: readonly ShownEvent[]): Promise<void> {
    for (const one of shown) await this.#document(one, await formatShown(one, this.#options));
  }

  async marker(marker: ShownMarker): Promise<void> {
    await this.#document(marker, "");
  }

  async #document({ node, event }: { node: string | undefined; event?: string }, body: string): Promise<void> {
    // Names of nodes come from the command line; quotes keep YAML from reading anything into them.
    const head = [
      ...(node === undefined ? [] : [`node: ${JSON.stringify(node)}\n`]),
      ...(event === undefined ? [] : [`event: ${event}\n`]),
    ].join("");
    const separator = this.#isFirst ? "" : "---\n";
    this.#isFirst = false;
    await writeForeign(this.#options.stdout, separator + head + body);
  }
}
