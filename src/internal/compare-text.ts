/** From here on a UTF-16 unit is a surrogate, or a character that UTF-8 sorts before all surrogate pairs. */
const FIRST_SURROGATE = 0xd800;

/**
 * Orders strings by their UTF-8 bytes, as every list, key and id order in Homeostat is. JavaScript's `<` orders by
 * UTF-16 units, which differs only where one side has a character outside the Basic Multilingual Plane.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= FIRST_SURROGATE && y >= FIRST_SURROGATE) return rank(x) - rank(y);
    return x - y;
  }
  return a.length - b.length;
}

/** Puts surrogates (U+D800–U+DFFF), which stand for U+10000 and above, after U+E000–U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x2000 : unit + 0x2000;
}
