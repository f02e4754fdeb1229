import type { EdgeType, GraphEdge } from "./graph-edge.ts";

const LABELS: Readonly<Record<EdgeType, string>> = {
  exclusive: "writes",
  shared: "writes, shared",
  weak: "reads",
  strong: "reads, holds",
  destroyReady: "when destroy-ready",
  primary: "reconciles",
  mapped: "maps",
  mappedDestroyReady: "maps when destroy-ready",
};

const isOutput = (edge: EdgeType): boolean => edge === "exclusive" || edge === "shared";

/** Boxes are controllers; what they read and write is round. An arrow is the way that changes take. */
export function graphToDot(edges: readonly GraphEdge[]): string {
  const lines = ["digraph controllers {", "  rankdir=LR;"];
  for (const name of unique(edges.map(({ controller }) => controller))) {
    lines.push(`  ${quote(`controller:${name}`)} [shape=box, label=${quote(name)}];`);
  }
  for (const type of unique(edges.map(resourceName)))
    lines.push(`  ${quote(`resource:${type}`)} [label=${quote(type)}];`);
  for (const edge of edges) {
    const controller = quote(`controller:${edge.controller}`);
    const resource = quote(`resource:${resourceName(edge)}`);
    const [from, to] = isOutput(edge.edge) ? [controller, resource] : [resource, controller];
    lines.push(`  ${from} -> ${to} [label=${quote(edgeLabel(edge))}];`);
  }
  return [...lines, "}", ""].join("\n");
}

export function graphToMermaid(edges: readonly GraphEdge[]): string {
  const lines = ["flowchart LR"];
  const controllers = unique(edges.map(({ controller }) => controller));
  const resources = unique(edges.map(resourceName));
  controllers.forEach((name, i) => lines.push(`  c${i}[${quoteMermaid(name)}]`));
  resources.forEach((name, i) => lines.push(`  r${i}(${quoteMermaid(name)})`));
  for (const edge of edges) {
    const controller = `c${controllers.indexOf(edge.controller)}`;
    const resource = `r${resources.indexOf(resourceName(edge))}`;
    const [from, to] = isOutput(edge.edge) ? [controller, resource] : [resource, controller];
    lines.push(`  ${from} -->|${quoteMermaid(edgeLabel(edge))}| ${to}`);
  }
  return [...lines, ""].join("\n");
}

/** Types are the nodes, so that outputs, which have no namespace, meet the inputs that they feed. */
const resourceName = ({ type }: GraphEdge): string => type;

function edgeLabel({ edge, namespace, id }: GraphEdge): string {
  if (isOutput(edge)) return LABELS[edge];
  return `${LABELS[edge]} ${id === "" ? namespace : `${namespace}/${id}`}`;
}

/** In order of first appearance, which is that of the sorted edges. */
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

const quote = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;

const quoteMermaid = (text: string): string =>
  `"${text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", " ")}"`;
