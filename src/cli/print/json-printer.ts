import { onOneLine } from "../../internal/visible-text.ts";
import type { Resource } from "../../resource/index.ts";
import { describeFailure } from "../failure.ts";
import { writeForeign } from "../output.ts";
import {
  isHidden,
  nameOf,
  type Printer,
  type PrinterOptions,
  type Shown,
  type ShownEvent,
  type ShownMarker,
} from "./printer.ts";
import { formatJson, readableSpec } from "./readable-value.ts";

/** The form that JSON and path expressions see: `node` and `event` where there are any, `metadata`, `spec`. */
export async function jsonFormOf(
  shown: Shown & { readonly event?: string },
  options: Pick<PrinterOptions, "showSensitive" | "stderr">,
): Promise<Readonly<Record<string, unknown>>> {
  const { node, event, resource } = shown;
  return {
    ...(node !== undefined && { node }),
    ...(event !== undefined && { event }),
    metadata: resource.metadata,
    ...(!isHidden(shown, options) && { spec: await specOf(resource, options) }),
  };
}

/** One resource that a peer wrote badly must not hide the others: its spec is null, and a note says why. */
async function specOf(resource: Resource, { stderr }: Pick<PrinterOptions, "stderr">): Promise<unknown> {
  try {
    return await readableSpec(resource);
  } catch (error) {
    const name = nameOf(resource.metadata);
    await stderr.write(`homeostat: the spec of ${name} cannot be shown: ${onOneLine(describeFailure(error))}\n`);
    return null;
  }
}

/** A list is one array, one resource is one object; a watch writes one object a line. */
export class JsonPrinter implements Printer {
  readonly #options: PrinterOptions;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  async list(shown: readonly Shown[], isList: boolean): Promise<void> {
    const forms: unknown[] = [];
    for (const one of shown) forms.push(await jsonFormOf(one, this.#options));
    for (const value of isList ? [forms] : forms) await this.#write(`${formatJson(value, 4)}\n`);
  }

  async events(shown: readonly ShownEvent[]): Promise<void> {
    for (const one of shown) await this.#write(`${formatJson(await jsonFormOf(one, this.#options))}\n`);
  }

  async marker({ node, event }: ShownMarker): Promise<void> {
    await this.#write(`${formatJson({ ...(node !== undefined && { node }), event })}\n`);
  }

  #write(text: string): Promise<void> {
    return writeForeign(this.#options.stdout, text);
  }
}
