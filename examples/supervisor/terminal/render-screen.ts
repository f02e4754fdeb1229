import { styleText } from "node:util";

import type { Immutable } from "homeostat";

import { describeExit } from "../logic/service-plan.ts";
import { plainText } from "../process/plain-text.ts";
import type { ServiceState, ServiceStatusSpec } from "../resources/index.ts";
import type { Happening } from "./describe-change.ts";
import { formatDuration } from "./duration.ts";

type Style = Parameters<typeof styleText>[0];

/** What the screen shows. */
export interface ScreenContent {
  readonly title: string;
  readonly services: readonly { readonly name: string; readonly status: Immutable<ServiceStatusSpec> }[];
  /** Mistakes that stand, one line each. */
  readonly problems: readonly string[];
  /** What happened, oldest first. */
  readonly happenings: readonly (Happening & { readonly at: Date })[];
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

const STATE_STYLES: Readonly<Record<ServiceState, Style>> = {
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
  const { title, services, problems, happenings, hint } = content;
  const table = renderTable(services, content.nowMs, columns);
  const footer = styleText("dim", cut(hint, columns));
  // The table comes first; what is left is shared by problems and happenings.
  const room = Math.max(0, rows - 3);
  const shownTable = fit(table, Math.min(table.length, Math.max(3, room)), "services", columns);
  let left = room - shownTable.length;
  const lines = [styleText("bold", cut(title, columns)), "", ...shownTable];
  if (problems.length > 0 && left >= 3) {
    const shown = fit(
      problems.map((line) => styleText("red", cut(line, columns))),
      Math.min(problems.length, Math.max(1, Math.floor((left - 2) / 2))),
      "problems",
      columns,
    );
    lines.push("", styleText(["bold", "red"], cut("PROBLEMS", columns)), ...shown);
    left -= shown.length + 2;
  }
  if (happenings.length > 0 && left >= 3) {
    lines.push("", styleText("bold", cut("EVENTS", columns)));
    for (const one of happenings.slice(-(left - 2))) lines.push(renderHappening(one, columns));
  }
  while (lines.length < rows - 1) lines.push("");
  return [...lines.slice(0, Math.max(0, rows - 1)), footer].slice(0, Math.max(1, rows));
}

function renderTable(services: ScreenContent["services"], nowMs: number, columns: number): string[] {
  const table: readonly (readonly Cell[])[] = [
    HEADERS.map((text) => ({ text, style: "bold" as const })),
    ...services.map(({ name, status }) => serviceRow(name, status, nowMs)),
  ];
  const widths = HEADERS.map((_, i) => Math.max(...table.map((row) => row[i]?.text.length ?? 0)));
  const lines = table.map((row) => {
    let left = columns;
    const parts: string[] = [];
    row.forEach(({ text, style }, i) => {
      if (left <= 0) return;
      const last = i === row.length - 1;
      const shown = cut(last ? text : `${text.padEnd(widths[i] ?? 0)}  `, left);
      left -= shown.length;
      parts.push(style === undefined ? shown : styleText(style, shown));
    });
    return parts.join("").trimEnd();
  });
  if (services.length === 0) lines.push(styleText("dim", cut("no services are declared yet", columns)));
  return lines;
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

function renderHappening({ at, level, text }: Happening & { readonly at: Date }, columns: number): string {
  const time = clockTime(at);
  const style: Style = level === "error" ? "red" : level === "warn" ? "yellow" : "reset";
  const shown = cut(`${time}  ${text}`, columns);
  return styleText("gray", shown.slice(0, time.length)) + styleText(style, shown.slice(time.length));
}

/** Local time of day: `14:03:59`. */
export function clockTime(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

const cut = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`.slice(0, columns);

/** The first lines, of which the last says how many are missing, when they do not all fit. */
function fit(lines: readonly string[], rows: number, what: string, columns: number): string[] {
  if (lines.length <= rows) return [...lines];
  const shown = lines.slice(0, Math.max(0, rows - 1));
  return [...shown, styleText("dim", cut(`… ${lines.length - shown.length} more ${what}`, columns))];
}
