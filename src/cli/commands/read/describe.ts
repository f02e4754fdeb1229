import { onOneLine, withoutControls } from "../../../internal/visible-text.ts";
import type { Resource } from "../../../resource/index.ts";
import type { ReadContext, Target } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf, forNode, reportFailure } from "../../failure.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import type { Shown } from "../../print/printer.ts";
import { kindIn, parseSelections, pointerIn, resolveSelection, type SelectionOptions } from "../../args/selection.ts";
import { formatShown } from "../../print/yaml-printer.ts";

export interface DescribeOptions extends SelectionOptions {
  readonly names: readonly string[];
  /** Default: false. */
  readonly showSensitive?: boolean | undefined;
}

/** Shows everything about resources, for people. */
export async function describe(context: ReadContext, options: DescribeOptions): Promise<ExitCode> {
  const { stdout, stderr, signal } = context;
  let exitCode: ExitCode = ExitCode.ok;
  let isFirst = true;
  const show = async (shown: Shown): Promise<void> => {
    const text = await description(shown, options.showSensitive ?? false);
    await stdout.write(`${isFirst ? "" : "\n"}${text}`);
    isFirst = false;
  };
  const fail = async (error: unknown): Promise<void> => {
    signal.throwIfAborted();
    exitCode ||= exitCodeOf(error);
    await reportFailure(stderr, error);
  };
  const describeAt = async ({ node, state }: Target): Promise<void> => {
    const catalog = await loadKinds(state, signal);
    for (const selection of parseSelections(options.names)) {
      const { kind, ids, namespaces, labels } = await resolveSelection(state, catalog, selection, options, signal);
      for (const namespace of namespaces) {
        for (const id of ids) {
          try {
            await show({ node, kind, resource: await state.get(pointerIn(kind, namespace, id), { signal }) });
          } catch (error) {
            await fail(error);
          }
        }
        if (ids.length > 0) continue;
        const resources = await state.list(kindIn(kind, namespace), { labels, signal });
        for (const resource of resources) await show({ node, kind, resource });
      }
    }
  };
  for (const target of context.targets) {
    if (context.targets.length === 1) await describeAt(target);
    else await describeAt(target).catch((error: unknown) => fail(forNode(target, error)));
  }
  if (isFirst && exitCode === ExitCode.ok) await stderr.write("homeostat: there is nothing to describe\n");
  return exitCode;
}

async function description(shown: Shown, showSensitive: boolean): Promise<string> {
  const { node, kind, resource } = shown;
  const { metadata } = resource;
  const lines: (readonly [string, string])[] = [
    ...(node === undefined ? [] : [["Node", node] as const]),
    ["ID", metadata.id],
    ["Namespace", metadata.namespace],
    ["Type", kind.isDescribed ? `${kind.displayType} (${metadata.type})` : metadata.type],
    ["Version", metadata.version],
    ["Phase", metadata.phase],
    ["Owner", metadata.owner || "none"],
    ["Created", metadata.created],
    ["Updated", metadata.updated],
    ...listed("Labels", pairsOf(metadata.labels)),
    ...listed("Annotations", pairsOf(metadata.annotations)),
    ...listed("Finalizers", metadata.finalizers),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 1;
  const table = lines.map(([name, value]) => `${(name && `${name}:`).padEnd(width)} ${onOneLine(value)}\n`).join("");
  return `${table}Spec:\n${await describeSpec(resource, shown, showSensitive)}`;
}

const pairsOf = (entries: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(entries)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted();

function listed(name: string, values: readonly string[]): readonly (readonly [string, string])[] {
  if (values.length === 0) return [[name, "none"]];
  return values.map((value, i) => [i === 0 ? name : "", value] as const);
}

/** The part of the resource's YAML that comes after its metadata. */
async function describeSpec(resource: Resource, shown: Shown, showSensitive: boolean): Promise<string> {
  const yaml = await formatShown({ ...shown, resource }, { showSensitive });
  const spec = /^(?:# spec: (.*)|spec:(.*))\n([^]*)$/m.exec(yaml);
  const [, reason, sameLine = "", below = ""] = spec ?? [];
  const text =
    reason !== undefined ? `    (${reason})\n` : sameLine.trim() === "" ? below : `    ${sameLine.trim()}\n${below}`;
  return withoutControls(text);
}
