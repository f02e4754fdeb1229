import { Handle, OpaqueSpec } from "../resource/index.ts";

/** A text that needs no quotes in any style: a letter, then what has no meaning in YAML. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./-]{0,99}$/;
/** The words among them that YAML does not read as text. */
const WORDS = /^(?:null|true|false)$/i;

/**
 * A mapping of short names to whole numbers, booleans and simple words, as YAML: what most specs are, in a small part of
 * the time that the library takes for documents of any kind. Undefined for everything else.
 */
export function formatFlat(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Uint8Array)
    return undefined;
  if (value instanceof OpaqueSpec || value instanceof Handle) return undefined;
  let text = "";
  for (const [key, part] of Object.entries(value)) {
    const shown = formatScalar(part);
    if (shown === undefined || !isPlain(key)) return undefined;
    text += `${key}: ${shown}\n`;
  }
  return text === "" ? undefined : text;
}

function formatScalar(value: unknown): string | undefined {
  if (typeof value === "string") return isPlain(value) ? value : undefined;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  return undefined;
}

const isPlain = (text: string): boolean => PLAIN.test(text) && !WORDS.test(text);
