import { createHash } from "node:crypto";

/** A short digest of plain data, for comparing: equal data gives equal digests, whatever the order of keys. */
export function digest(data: unknown): string {
  return createHash("sha256").update(JSON.stringify(data, sortKeys)).digest("hex").slice(0, 16);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
