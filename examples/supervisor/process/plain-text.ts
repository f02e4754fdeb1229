import { stripVTControlCharacters } from "node:util";

/** Foreign text on one line, without anything that a terminal would obey. */
export function plainText(foreign: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  return stripVTControlCharacters(foreign).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}
