import { onOneLine } from "../../internal/visible-text.ts";
import type { Clock } from "../../clock/index.ts";
import type { Resource } from "../../resource/index.ts";
import type { NamedKind } from "../args/named-kind.ts";
import type { OutputFormat } from "../args/output-format.ts";
import type { Output } from "../output.ts";

/** A resource on its way to the user. */
export interface Shown {
  /** Where it comes from, when several nodes are asked. */
  readonly node: string | undefined;
  readonly kind: NamedKind;
  readonly resource: Resource;
}

/** A change of a resource, as watches show it. */
export interface ShownEvent extends Shown {
  readonly event: "created" | "updated" | "destroyed";
}

/** Where a watch stands, for programs that follow it: `resynced` means that what was shown before may be out of date. */
export interface ShownMarker {
  readonly node: string | undefined;
  readonly event: "bootstrapped" | "resynced";
}

/** Shows resources in one of the formats. */
export interface Printer {
  /** @param isList - False when exactly one resource was asked for. */
  list(shown: readonly Shown[], isList: boolean): Promise<void>;
  events(shown: readonly ShownEvent[]): Promise<void>;
  marker(marker: ShownMarker): Promise<void>;
}

export interface PrinterOptions {
  readonly format: OutputFormat;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly color: boolean;
  readonly withHeaders: boolean;
  /** Show the specs of sensitive types. */
  readonly showSensitive: boolean;
  readonly withNodes: boolean;
  readonly isWatch: boolean;
  /** What ages are measured by. */
  readonly clock: Clock;
}

/** True for a resource whose spec has to stay hidden. */
export const isHidden = ({ kind }: Shown, { showSensitive }: Pick<PrinterOptions, "showSensitive">): boolean =>
  kind.isSensitive && !showSensitive;

/** `type/id`, as `-o name` shows it and commands take it; on one line, whatever the id. */
export const nameOf = ({ type, id }: { readonly type: string; readonly id: string }): string =>
  onOneLine(`${type}/${id}`);
