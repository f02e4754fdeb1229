import type { GraphEdge } from "./graph-edge.ts";
import { graphToDot, graphToMermaid } from "./graph-text.ts";

/** The dependency graph at one moment: who writes what, and who depends on what. */
export class Graph {
  /** Exclusive outputs, then shared outputs, then inputs; each group by controller, namespace, type, id. */
  readonly edges: readonly GraphEdge[];

  constructor(edges: readonly GraphEdge[]) {
    this.edges = edges;
  }

  /** The graph in the language of Graphviz. The same graph gives the same text. */
  toDot(): string {
    return graphToDot(this.edges);
  }

  /** The graph as a Mermaid flowchart. The same graph gives the same text. */
  toMermaid(): string {
    return graphToMermaid(this.edges);
  }

  toJSON(): readonly GraphEdge[] {
    return this.edges;
  }
}
