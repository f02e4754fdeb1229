const UNIT_MS: Readonly<Record<string, number>> = Object.freeze({
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
});
/** Eight digits are all that the header has room for. */
const MAX_VALUE = 99_999_999;

/** Milliseconds in a `grpc-timeout` header; undefined when it is malformed. */
export function parseTimeout(text: string): number | undefined {
  if (!/^\d{1,8}[HMSmun]$/.test(text)) return undefined;
  const unitMs = UNIT_MS[text.slice(-1)];
  return unitMs === undefined ? undefined : Number(text.slice(0, -1)) * unitMs;
}

/** A `grpc-timeout` header, in whole milliseconds while they fit; never shorter than asked. */
export function formatTimeout(ms: number): string {
  if (ms <= 0) return "0m";
  for (const unit of ["m", "S", "M", "H"] as const) {
    const count = Math.ceil(ms / (UNIT_MS[unit] ?? 1));
    if (count <= MAX_VALUE) return `${count}${unit}`;
  }
  return `${MAX_VALUE}H`;
}
