import { formatSpecPath, StateError, type Resource, type SpecIssue } from "../../resource/index.ts";
import { formatPosition, type Manifests } from "../../yaml/index.ts";
import { describeFailure } from "../failure.ts";
import { nameOf } from "../print/printer.ts";

/** What is wrong with a manifest that a State refused, each mistake with the place where it stands. */
export function describeMistakes(error: unknown, manifest: Resource, manifests: Manifests): readonly string[] {
  const placed = (path: readonly (string | number)[], message: string): string => {
    const position = manifests.positionOf(manifest, ...path);
    return position === undefined ? message : `${formatPosition(position)}: ${message}`;
  };
  const issues = issuesOf(error);
  if (issues.length === 0) return [placed([], `${nameOf(manifest.metadata)}: ${describeFailure(error)}`)];
  return issues.map(({ path, message }) => placed(["spec", ...path], `${formatSpecPath(path)}: ${message}`));
}

/** Longer texts are told as a whole: they come from a peer. Unit: UTF-16 units. */
const MAX_TEXT_LENGTH = 20_000;

/** A path within the text of an error, as {@link formatSpecPath} writes it: at the start of each issue. */
const ISSUE = /(?<=^|: |; )spec((?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*): /g;
const STEP = /\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** The issues of a refused spec. Over the wire only the text of the error comes along; it names each field. */
function issuesOf(error: unknown): readonly SpecIssue[] {
  if (!(error instanceof StateError)) return [];
  if (error.issues !== undefined) return error.issues;
  if (error.message.length > MAX_TEXT_LENGTH) return [];
  const starts = [...error.message.matchAll(ISSUE)];
  return starts.map((start, i) => {
    const end = starts[i + 1]?.index ?? error.message.length;
    const message = error.message.slice(start.index + start[0].length, end).replace(/; $/, "");
    return { path: stepsOf(start[1] ?? ""), message };
  });
}

function stepsOf(path: string): readonly (string | number)[] {
  return Array.from(path.matchAll(STEP), ([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return name ?? String(JSON.parse(quoted ?? '""'));
  });
}
