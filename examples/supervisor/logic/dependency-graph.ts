/** Who depends on whom: name → names of what it depends on. Names that are no key are unknown services. */
export type DependencyGraph = ReadonlyMap<string, readonly string[]>;

/** The shortest way from `start` back to it, with `start` at both ends: `a, b, a`. Undefined when there is none. */
export function findCycle(graph: DependencyGraph, start: string): readonly string[] | undefined {
  const from = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    for (const next of graph.get(name) ?? []) {
      if (next === start) return [...pathTo(name, from), start];
      if (from.has(next)) continue;
      from.set(next, name);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo(end: string, from: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let at = from.get(end); at !== undefined; at = from.get(at)) path.unshift(at);
  return path;
}

/** Everything that `start` depends on, directly or not. Contains `start` only when there is a cycle. */
export function dependenciesOf(graph: DependencyGraph, start: string): ReadonlySet<string> {
  const found = new Set<string>(graph.get(start));
  for (const name of found) for (const next of graph.get(name) ?? []) found.add(next);
  return found;
}
