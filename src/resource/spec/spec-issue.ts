/** One thing that is wrong with a spec. */
export interface SpecIssue {
  readonly message: string;
  /** Keys and indexes from the spec inwards; empty for the spec itself. */
  readonly path: readonly (string | number)[];
}

/** A path as people write it: `spec.ports[2].name`. */
export function formatSpecPath(path: readonly (string | number)[], root = "spec"): string {
  let text = root;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_$][\w$-]{0,80}$/.test(key)) text += `.${key}`;
    else text += `[${JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)}]`;
  }
  return text;
}

/** All issues in one line. */
export function formatIssues(issues: readonly SpecIssue[]): string {
  return issues.map(({ path, message }) => `${formatSpecPath(path)}: ${message}`).join("; ");
}
