const KIB = 1024n;
const KILO = 1000n;

/** Factors of a unit's first two letters, then of its first letter; whatever follows is ignored (`kg`, `GB`, `Mbps`). */
const BINARY: ReadonlyMap<string, bigint> = new Map(
  ["ki", "mi", "gi", "ti", "pi"].map((unit, i) => [unit, KIB ** BigInt(i + 1)]),
);
const DECIMAL: ReadonlyMap<string, bigint> = new Map(
  ["k", "m", "g", "t", "p"].map((unit, i) => [unit, KILO ** BigInt(i + 1)]),
);

const MAX_VALUE = 2n ** 63n - 1n;
const MIN_VALUE = -(2n ** 63n);

/**
 * The number that a label's value stands for, as label comparisons read it: digits with an optional minus, then a
 * unit. `4GiB` is 4·2³⁰, `10kg` is 10,000; `1.5k`, `1e3` and whatever does not fit into 64 bits are no numbers.
 */
export function parseQuantity(text: string): bigint | undefined {
  const trimmed = text.trim();
  const digits = /^[0-9-]*/.exec(trimmed)?.[0] ?? "";
  const number = /^(-?)0*([0-9]{1,19})$/.exec(digits);
  if (number === null) return undefined;
  const factor = unitFactor(trimmed.slice(digits.length).trim().toLowerCase());
  if (factor === undefined) return undefined;
  const value = BigInt(`${number[1]}${number[2]}`) * factor;
  return value >= MIN_VALUE && value <= MAX_VALUE ? value : undefined;
}

function unitFactor(unit: string): bigint | undefined {
  if (unit === "") return 1n;
  return BINARY.get(unit.slice(0, 2)) ?? DECIMAL.get(unit.slice(0, 1));
}
