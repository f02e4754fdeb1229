import type { ServiceSpec } from "../resources/index.ts";

/** The wait before the next start after so many failures in a row. Unit: milliseconds. */
export function backoffMs(
  { initialMs, maxMs }: Pick<ServiceSpec["backoff"], "initialMs" | "maxMs">,
  failures: number,
): number {
  if (failures <= 0) return 0;
  // More doublings than this reach any maximum.
  return Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 40));
}
