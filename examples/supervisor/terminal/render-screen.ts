import { styleText } from "node:util";

import type { Immutable } from "homeostat";

import { describeExit } from "../logic/service-plan.ts";
import { plainText } from "../process/plain-text.ts";
import type { ServiceStatusSpec } from "../resources/index.ts";
import type { TimedNotice } from "./notices.ts";
import { cut, pad, take, textWidth } from "./text-width.ts";

type Style = Parameters<typeof styleText>[0];

/** What the screen shows. */
export interface ScreenContent {
  readonly title: string;
  readonly services: readonly { readonly name: string; readonly status: Immutable<ServiceStatusSpec> }[];
  /** Mistakes that stand, one line each. */
  readonly problems: readonly string[];
  /** What happened, oldest first. */
  readonly notices: readonly TimedNotice[];
  readonly hint: string;
  readonly nowMs: number;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
}

const HEADERS = ["SERVICE", "STATE", "PID", "RESTARTS", "HEALTH", "SINCE", "LAST REASON"] as const;

/** Shortest name that is shown whole. */
const MIN_NAME = 12;

const STATE_STYLES: Readonly<Record<ServiceStatusSpec["state"], Style>> = {
  waiting: "yellow",
  blocked: "red",
  starting: "cyan",
  running: "green",
  stopping: "yellow",
  backoff: "red",
  done: "gray",
  failed: "red",
};

/** The lines of the screen: never more than its rows, never wider than its columns. */
export function renderScreen(content: ScreenContent, { columns, rows }: ScreenSize): string[] {
  const { title, services, problems, notices, hint } = content;
  const table = renderTable(services, content.nowMs, columns);
  const footer = styleText("dim", cut(hint, columns));
  // The table comes first; what is left is shared by problems and notices.
  const room = Math.max(0, rows - 3);
  const shownTable = fit(table, Math.max(3, room), "services", columns);
  let left = room - shownTable.length;
  const lines = [styleText("bold", cut(title, columns)), "", ...shownTable];
  if (problems.length > 0 && left >= 3) {
    const shown = fit(
      problems.map((line) => [styleText("red", cut(line, columns))]),
      Math.max(1, Math.floor((left - 2) / 2)),
      "problems",
      columns,
    );
    lines.push("", styleText(["bold", "red"], cut("PROBLEMS", columns)), ...shown);
    left -= shown.length + 2;
  }
  if (notices.length > 0 && left >= 3) {
    lines.push("", styleText("bold", cut("EVENTS", columns)));
    for (const one of notices.slice(-(left - 2))) lines.push(renderNotice(one, columns));
  }
  while (lines.length < rows - 1) lines.push("");
  return [...lines.slice(0, Math.max(0, rows - 1)), footer].slice(0, Math.max(1, rows));
}

/** The header, and the one or two lines of each service. */
function renderTable(services: ScreenContent["services"], nowMs: number, columns: number): string[][] {
  const table: readonly (readonly Cell[])[] = [
    HEADERS.map((text) => ({ text, style: "bold" as const })),
    ...services.map(({ name, status }) => serviceRow(name, status, nowMs)),
  ];
  const widths = HEADERS.map((_, i) => Math.max(...table.map((row) => textWidth(row[i]?.text ?? ""))));
  widths[0] = Math.min(widths[0] ?? 0, Math.max(MIN_NAME, Math.floor(columns / 3)));
  // The last column has a line of its own where it does not fit.
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const lines = table.map((row) => {
    const own = row.slice(0, -1).map(({ text, style }, i) => {
      const shown = `${pad(cut(text, widths[i] ?? 0), widths[i] ?? 0)}  `;
      return { text: shown, style };
    });
    const reason = row.at(-1) ?? { text: "" };
    if (before + textWidth(reason.text) <= columns) return [printCells([...own, reason], columns)];
    return [printCells(own, columns), printCells([{ ...reason, text: `  ${reason.text}` }], columns)];
  });
  if (services.length === 0) lines.push([styleText("dim", cut("no services are declared yet", columns))]);
  return lines;
}

/** One line of cells. What does not fit ends with a sign, even if only blanks had room. */
function printCells(cells: readonly Cell[], columns: number): string {
  const isWhole =
    textWidth(
      cells
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    ) <= columns;
  let left = isWhole ? columns : columns - 1;
  const parts: string[] = [];
  for (const { text, style } of cells) {
    const shown = take(text, left);
    left -= textWidth(shown);
    if (shown !== "") parts.push(style === undefined ? shown : styleText(style, shown));
    if (shown !== text) break;
  }
  return `${parts.join("").trimEnd()}${isWhole || columns === 0 ? "" : "…"}`;
}

function serviceRow(name: string, status: Immutable<ServiceStatusSpec>, nowMs: number): Cell[] {
  const { state, ready, pid, restarts, health, since, reason, startReason, lastExit } = status;
  const last = reason || startReason || (lastExit === undefined || lastExit.requested ? "" : describeExit(lastExit));
  const healthStyle: Style = health === "healthy" ? "green" : health === "unhealthy" ? "red" : "gray";
  return [
    { text: name },
    { text: state, style: state === "running" && !ready ? "yellow" : STATE_STYLES[state] },
    { text: pid === undefined ? "-" : String(pid) },
    { text: String(restarts), style: restarts > 0 ? "yellow" : undefined },
    { text: health === "none" ? "-" : health, style: healthStyle },
    { text: formatDuration(nowMs - Date.parse(since)) },
    { text: plainText(last), style: reason === "" ? "gray" : undefined },
  ];
}

function renderNotice({ at, level, text }: TimedNotice, columns: number): string {
  const time = clockTime(at);
  const style: Style = level === "error" ? "red" : level === "warn" ? "yellow" : "reset";
  const shown = cut(`${time}  ${text}`, columns);
  return styleText("gray", shown.slice(0, time.length)) + styleText(style, shown.slice(time.length));
}

/** A length of time at a glance: `3s`, `4m 10s`, `2h 5m`, `6d 1h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  if (days === 0) return `${hours}h ${minutes % 60}m`;
  return `${days}d ${hours % 24}h`;
}

/** Local time of day: `14:03:59`. */
export function clockTime(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** The lines of the first groups; the last line says how many groups are missing, when they do not all fit. */
function fit(groups: readonly (readonly string[])[], rows: number, what: string, columns: number): string[] {
  const all = groups.flat();
  if (all.length <= rows) return all;
  const shown: string[] = [];
  let count = 0;
  for (const group of groups) {
    if (shown.length + group.length > rows - 1) break;
    shown.push(...group);
    count += 1;
  }
  return [...shown, styleText("dim", cut(`… ${groups.length - count} more ${what}`, columns))];
}
