import type { InputKind, OutputKind } from "../../controller/index.ts";

/** What an edge of the dependency graph says: how a controller writes a type, or how it depends on a resource. */
export type EdgeType = OutputKind | InputKind;

/** One edge of the dependency graph. */
export interface GraphEdge {
  readonly controller: string;
  /** Empty for outputs, which hold in every namespace. */
  readonly namespace: string;
  readonly type: string;
  /** Empty for outputs, and for inputs that are a whole kind. */
  readonly id: string;
  readonly edge: EdgeType;
}
