import { stripVTControlCharacters } from "node:util";

import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";

import type { ServiceStatusSpec } from "../resources/index.ts";
import { formatDuration, renderScreen, type ScreenContent } from "./render-screen.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");

const status = (other: Partial<ServiceStatusSpec> = {}): ServiceStatusSpec => ({
  state: "running",
  ready: true,
  leaving: false,
  pid: 4711,
  health: "healthy",
  since: "2026-01-01T00:00:00Z",
  restarts: 2,
  failures: 0,
  run: 3,
  countedRun: 2,
  generation: 1,
  dependsOn: [],
  reason: "",
  startReason: "exited with code 1",
  ...other,
});

const content = (other: Partial<ScreenContent> = {}): ScreenContent => ({
  title: "title",
  services: [{ name: "web", status: status() }],
  problems: [],
  notices: [],
  hint: "hint",
  nowMs: NOW_MS,
  ...other,
});

const render = (...args: Parameters<typeof renderScreen>) => renderScreen(...args).map(stripVTControlCharacters);

describe("screen", () => {
  test("a service is a row with state, pid, restarts, health, time and last reason", () => {
    const lines = render(content(), { columns: 80, rows: 10 });
    expect(lines.slice(0, 4)).toEqual([
      "title",
      "",
      "SERVICE  STATE    PID   RESTARTS  HEALTH   SINCE   LAST REASON",
      "web      running  4711  2         healthy  10m 0s  exited with code 1",
    ]);
    expect(lines.at(-1)).toBe("hint");
  });

  test("the present reason counts more than the one of the last start", () => {
    const services = [
      { name: "web", status: status({ state: "waiting", reason: "waits for db", pid: undefined, health: "none" }) },
    ];
    expect(render(content({ services }), { columns: 80, rows: 10 })[3]).toBe(
      "web      waiting  -    2         -       10m 0s  waits for db",
    );
  });

  test("problems and the latest events share what the table leaves", () => {
    const notices = Array.from({ length: 50 }, (_, i) => ({
      level: "info" as const,
      text: `event ${i}`,
      at: new Date(NOW_MS),
    }));
    const lines = render(content({ problems: ["a.yaml:1:1: bad"], notices }), { columns: 80, rows: 14 });
    expect(lines[5]).toBe("PROBLEMS");
    expect(lines[6]).toBe("a.yaml:1:1: bad");
    expect(lines[8]).toBe("EVENTS");
    expect(lines.at(-2)).toMatch(/^\d\d:\d\d:\d\d {2}event 49$/);
  });

  test("services that do not fit are counted", () => {
    const services = Array.from({ length: 30 }, (_, i) => ({ name: `s${i}`, status: status() }));
    expect(render(content({ services }), { columns: 80, rows: 12 })).toContain("… 23 more services");
  });

  test("what foreign processes say cannot move the cursor", () => {
    const services = [{ name: "web", status: status({ reason: "a\u001b[2Jb\r\nc" }) }];
    const line = renderScreen(content({ services }), { columns: 80, rows: 10 })[3] ?? "";
    expect(line).not.toContain("\u001b[2J");
    expect(line).not.toMatch(/[\r\n]/);
  });

  property.prop([fc.nat(200), fc.nat(60), fc.nat(40), fc.nat(20), fc.nat(80)])(
    "it is never larger than the terminal",
    (columns, rows, services, problems, notices) => {
      const lines = render(
        content({
          services: Array.from({ length: services }, (_, i) => ({ name: `service-${i}`, status: status() })),
          problems: Array.from({ length: problems }, (_, i) => `problem ${i} ${"x".repeat(i * 10)}`),
          notices: Array.from({ length: notices }, (_, i) => ({
            level: "warn",
            text: `event ${i}`,
            at: new Date(0),
          })),
        }),
        { columns, rows },
      );
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    },
  );

  test("times are short", () => {
    expect([0, 59_999, 60_000, 3_599_000, 3_600_000, 90_000_000].map(formatDuration)).toEqual([
      "0s",
      "59s",
      "1m 0s",
      "59m 59s",
      "1h 0m",
      "1d 1h",
    ]);
  });
});
