import { parsePhase, type Resource } from "../../../resource/index.ts";
import { usageError } from "../../cli-error.ts";
import { compilePath, formatFound } from "../../print/path-query.ts";
import { readableSpec } from "../../print/readable-value.ts";

/** What `wait --for` waits for. */
export interface WaitCondition {
  /** As the user wrote it, for messages. */
  readonly text: string;
  readonly kind: "created" | "deleted" | "content";
  /** Whether a resource that is there meets it. */
  isMet(resource: Resource): Promise<boolean>;
  /** What a resource says instead, for the message when the time is up. */
  present(resource: Resource): Promise<string>;
}

const FORMS = "created, deleted, phase=PHASE, jsonpath=PATH, jsonpath=PATH=VALUE or condition=NAME[=VALUE]";

/** Reads the value of `--for`. @throws {CliError} usage */
export async function parseWaitCondition(text: string): Promise<WaitCondition> {
  const [word, rest] = cutAtEqualSign(text);
  if (rest === undefined) {
    if (/^created?$/.test(word)) return { text, kind: "created", isMet: async () => true, present: async () => "" };
    if (/^deleted?$/.test(word)) {
      return { text, kind: "deleted", isMet: async () => false, present: async (one) => heldText(one) };
    }
  } else if (rest !== "") {
    if (word === "phase") return phaseCondition(text, rest);
    if (word === "jsonpath") return pathCondition(text, rest);
    if (word === "condition") return namedCondition(text, rest);
  }
  throw usageError(`--for must be ${FORMS}, got ${JSON.stringify(text)}`);
}

const heldText = ({ metadata }: Resource): string =>
  metadata.finalizers.length === 0
    ? `it is ${metadata.phase}`
    : `it is ${metadata.phase}, held by ${metadata.finalizers.join(", ")}`;

function phaseCondition(text: string, wanted: string): WaitCondition {
  const phase = readPhase(wanted);
  return {
    text,
    kind: "content",
    isMet: async ({ metadata }) => metadata.phase === phase,
    present: async ({ metadata }) => `it is ${metadata.phase}`,
  };
}

function readPhase(text: string): string {
  try {
    return parsePhase(text);
  } catch (cause) {
    throw usageError(`--for=phase: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Without a value, anything that the path finds will do. */
async function pathCondition(text: string, rest: string): Promise<WaitCondition> {
  const [path, value] = cutAtEqualSign(rest);
  const query = await compilePath(path);
  const found = async (resource: Resource): Promise<readonly string[]> =>
    query({ metadata: resource.metadata, spec: await readableSpec(resource) }).map(formatFound);
  return {
    text,
    kind: "content",
    isMet: async (resource) => {
      const values = await found(resource);
      return value === undefined ? values.length > 0 : values.includes(value);
    },
    present: async (resource) => {
      const values = await found(resource);
      return values.length === 0 ? `${path} finds nothing` : `${path} is ${values.join(", ")}`;
    },
  };
}

/** The entry of the spec's `conditions` whose `type` is the name; its `status` must be the value, `true` by default. */
function namedCondition(text: string, rest: string): WaitCondition {
  const [name, value = "true"] = cutAtEqualSign(rest);
  const statusOf = async (resource: Resource): Promise<string | undefined> => {
    const spec = await readableSpec(resource);
    const conditions: unknown = isRecord(spec) ? spec["conditions"] : undefined;
    if (!Array.isArray(conditions)) return undefined;
    const entry = conditions.filter(isRecord).find(({ type }) => sameWord(String(type), name));
    return entry === undefined ? undefined : formatFound(entry["status"] ?? null);
  };
  return {
    text,
    kind: "content",
    isMet: async (resource) => sameWord((await statusOf(resource)) ?? "", value),
    present: async (resource) => {
      const status = await statusOf(resource);
      return status === undefined ? `its spec has no condition ${name}` : `condition ${name} is ${status}`;
    },
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Both sides of the first `=` that stands in no brackets, braces or quotes: those belong to a path. */
function cutAtEqualSign(text: string): readonly [string, string?] {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if ("[{(".includes(character)) depth++;
    else if ("]})".includes(character)) depth--;
    else if (character === "=" && depth === 0) return [text.slice(0, i), text.slice(i + 1)];
  }
  return [text];
}
