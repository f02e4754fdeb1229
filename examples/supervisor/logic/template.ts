const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const EXPRESSION = /^([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)(?:\s*\|\s*(json))?$/;

/**
 * Replaces every `{{ path.to.value }}` by what stands at that path of `data`. Texts, numbers and booleans appear as they
 * are; `{{ path | json }}` gives any value as JSON, with the quotes of texts.
 *
 * @throws {Error} with the line, for a path that leads nowhere, or to a list or mapping without `| json`.
 */
export function renderTemplate(template: string, data: Readonly<Record<string, unknown>>): string {
  return template.replace(PLACEHOLDER, (whole, inner: string, offset: number) => {
    const fail = (message: string): never => {
      const line = template.slice(0, offset).split("\n").length;
      throw new Error(`line ${line} of the template: ${whole} ${message}`);
    };
    const [, path, filter] = EXPRESSION.exec(inner.trim()) ?? [];
    if (path === undefined) return fail("must be a path such as {{ values.port }}");
    const value = lookUp(data, path, fail);
    if (filter === "json") return JSON.stringify(value);
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
    return fail(`is ${describe(value)}; write {{ ${path} | json }} to print it`);
  });
}

/** Names of the services that a template refers to: `{{ services.web.… }}` refers to web. */
export function servicesOf(template: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, inner = ""] of template.matchAll(PLACEHOLDER)) {
    const [root, service] = inner.trim().split(/[.|\s]/, 2);
    if (root === "services" && service !== undefined) names.add(service);
  }
  return names;
}

function lookUp(data: Readonly<Record<string, unknown>>, path: string, fail: (message: string) => never): unknown {
  let value: unknown = data;
  let walked = "";
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
      const known = typeof value === "object" && value !== null ? Object.keys(value).slice(0, 20).join(", ") : "";
      const place = walked === "" ? "" : ` in ${walked}`;
      return fail(`leads nowhere: there is no ${key}${place}${known === "" ? "" : ` (there is: ${known})`}`);
    }
    value = (value as Record<string, unknown>)[key];
    walked = walked === "" ? key : `${walked}.${key}`;
  }
  return value;
}

const describe = (value: unknown): string =>
  value === null ? "nothing" : Array.isArray(value) ? "a list" : typeof value === "object" ? "a mapping" : typeof value;
