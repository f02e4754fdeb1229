import { onOneLine } from "../../../internal/visible-text.ts";
import { notFoundError, usageError, type CliError } from "../../cli-error.ts";
import type { ReadContext, Target } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf, forNode, reportFailure } from "../../failure.ts";
import { followResources } from "./follow-resources.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import type { NamedKind } from "../../args/named-kind.ts";
import { openPrinter } from "../../print/open-printer.ts";
import type { OutputFormat } from "../../args/output-format.ts";
import type { PrinterOptions, Shown } from "../../print/printer.ts";
import { sortShown } from "../../print/sort-shown.ts";
import {
  kindIn,
  parseSelections,
  pointerIn,
  resolveSelection,
  type Selected,
  type Selection,
  type SelectionOptions,
} from "../../args/selection.ts";

export interface GetOptions extends SelectionOptions {
  /** `TYPE`, `TYPE ID…` or `TYPE/ID…`. */
  readonly names: readonly string[];
  readonly format: OutputFormat;
  /** Default: false. */
  readonly watch?: boolean | undefined;
  /** Path to what lists are ordered by. Default: the id. */
  readonly sortBy?: string | undefined;
  /** Default: true. */
  readonly headers?: boolean | undefined;
  /** Default: false. */
  readonly showSensitive?: boolean | undefined;
}

/** Shows resources, and with `watch` every change from then on. */
export async function get(context: ReadContext, options: GetOptions): Promise<ExitCode> {
  const selections = parseSelections(options.names);
  if (options.watch === true) return watchOne(context, options, selections);
  let exitCode: ExitCode = ExitCode.ok;
  let isFirst = true;
  for (const selection of selections) {
    const { shown, kind, failure } = await readEverywhere(context, options, selection);
    exitCode ||= failure;
    if (kind === undefined) continue;
    if (!isFirst && shown.length > 0 && isTable(options.format)) await context.stdout.write("\n");
    isFirst &&= shown.length === 0;
    const printing = printerOptions(context, options);
    const printer = await openPrinter(kind, printing);
    const sorted = options.sortBy === undefined ? shown : await sortShown(shown, options.sortBy, printing);
    await printer.list(sorted, selection.ids.length !== 1);
    if (shown.length === 0 && failure === ExitCode.ok) await context.stderr.write(nothingThere(kind, options));
  }
  return exitCode;
}

const isTable = ({ kind }: OutputFormat): boolean => kind === "table" || kind === "custom-columns";

function nothingThere(kind: NamedKind, { namespace, allNamespaces, selector }: GetOptions): string {
  const place = allNamespaces === true ? "any namespace" : `namespace ${namespace ?? kind.defaultNamespace}`;
  const what = onOneLine(`no ${kind.displayType} in ${place}`);
  return `homeostat: ${what}${selector === undefined ? "" : " matches the selector"}\n`;
}

function printerOptions(context: ReadContext, options: GetOptions): PrinterOptions {
  return {
    format: options.format,
    stdout: context.stdout,
    stderr: context.stderr,
    color: context.color,
    withHeaders: options.headers ?? true,
    showSensitive: options.showSensitive ?? false,
    withNodes: context.targets.some(({ node }) => node !== undefined),
    isWatch: options.watch ?? false,
    clock: context.clock,
  };
}

interface Reading {
  readonly shown: readonly Shown[];
  /** Undefined when no target knows the type. */
  readonly kind: NamedKind | undefined;
  readonly failure: ExitCode;
}

/** Asks one target after the other; what fails is reported, and the others are asked all the same. */
async function readEverywhere(context: ReadContext, options: GetOptions, selection: Selection): Promise<Reading> {
  const shown: Shown[] = [];
  let kind: NamedKind | undefined;
  let failure: ExitCode = ExitCode.ok;
  const fail = async (target: Target, error: unknown): Promise<void> => {
    const isAlone = context.targets.length === 1;
    if (context.signal.aborted || (isAlone && exitCodeOf(error) === ExitCode.unavailable)) throw error;
    failure ||= exitCodeOf(error);
    await reportFailure(context.stderr, forNode(target, error));
  };
  for (const target of context.targets) {
    try {
      const catalog = await loadKinds(target.state, context.signal);
      const selected = await resolveSelection(target.state, catalog, selection, options, context.signal);
      kind ??= selected.kind;
      shown.push(...(await read(target, selected, context, (error) => fail(target, error))));
    } catch (error) {
      await fail(target, error);
    }
  }
  return { shown, kind, failure };
}

async function read(
  { node, state }: Target,
  { kind, ids, namespaces, labels }: Selected,
  { signal }: ReadContext,
  fail: (error: unknown) => Promise<void>,
): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const namespace of namespaces) {
    for (const id of ids) {
      try {
        shown.push({ node, kind, resource: await state.get(pointerIn(kind, namespace, id), { signal }) });
      } catch (error) {
        await fail(error);
      }
    }
    if (ids.length > 0) continue;
    const resources = await state.list(kindIn(kind, namespace), { labels, signal });
    shown.push(...resources.map((resource) => ({ node, kind, resource })));
  }
  if (ids.length === 0 && shown.length === 0 && !kind.isDescribed) throw undescribed(kind);
  return shown;
}

/** A full name without a definition and of which there is nothing is more likely a mistake than an empty kind. */
const undescribed = ({ type }: NamedKind): CliError =>
  notFoundError(`type ${type} is not described, and there is no resource of it; -n chooses the namespace`);

/** All nodes at once; the first that fails ends the watch. */
async function watchOne(
  context: ReadContext,
  options: GetOptions,
  [selection, ...others]: readonly Selection[],
): Promise<ExitCode> {
  if (selection === undefined || others.length > 0) throw usageError("one type can be watched at a time");
  if (options.sortBy !== undefined) throw usageError("a watch shows changes as they come: --sort-by is for lists");
  const followed = await Promise.all(
    context.targets.map(async (target) => {
      const catalog = await loadKinds(target.state, context.signal);
      const selected = await resolveSelection(target.state, catalog, selection, options, context.signal);
      return { ...target, ...selected };
    }),
  );
  const [first] = followed;
  if (first === undefined) throw usageError("there is no node to watch");
  const printer = await openPrinter(first.kind, printerOptions(context, { ...options, watch: true }));
  await followResources(followed, printer, context);
  return ExitCode.ok;
}
