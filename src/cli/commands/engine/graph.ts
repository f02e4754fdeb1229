import { onOneLine } from "../../../internal/visible-text.ts";
import { EngineController, type EngineControllerSpec } from "../../../plane/index.ts";
import { Graph, type EdgeType, type GraphEdge } from "../../../runtime/index.ts";
import { CliError, notFoundError, usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";

/** How a graph can be shown. */
export const GRAPH_FORMATS = ["text", "json", "dot", "mermaid", "svg"] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

export interface GraphOptions {
  readonly output: string;
}

/** Shows which controllers read and write what. */
export async function graph(context: WriteContext, options: GraphOptions): Promise<ExitCode> {
  const format = GRAPH_FORMATS.find((one) => one === options.output);
  if (format === undefined) {
    throw usageError(`-o ${JSON.stringify(options.output)} is none of ${GRAPH_FORMATS.join(", ")}`);
  }
  const { state, stdout, signal } = context;
  const controllers = await state.list(EngineController, { signal });
  if (controllers.length === 0) {
    throw notFoundError("the server shows no controllers: homeostat run does, homeostat serve does not");
  }
  const named = controllers.map(({ metadata, spec }) => ({ name: metadata.id, spec: spec as EngineControllerSpec }));
  await stdout.write(await render(format, named));
  return ExitCode.ok;
}

interface NamedController {
  readonly name: string;
  readonly spec: EngineControllerSpec;
}

async function render(format: GraphFormat, controllers: readonly NamedController[]): Promise<string> {
  const drawn = new Graph(controllers.flatMap(edgesOf));
  switch (format) {
    case "text":
      return controllers.map(describe).join("");
    case "json":
      return `${JSON.stringify(drawn.edges, null, 2)}\n`;
    case "dot":
      return drawn.toDot();
    case "mermaid":
      return drawn.toMermaid();
    case "svg":
      return toSvg(drawn.toDot());
  }
}

const edgesOf = ({ name, spec }: NamedController): readonly GraphEdge[] => [
  ...spec.outputs.map(({ kind, type }) => ({ controller: name, namespace: "", type, id: "", edge: kind as EdgeType })),
  ...spec.inputs.map(({ kind, namespace, type, id = "" }) => ({
    controller: name,
    namespace,
    type,
    id,
    edge: kind as EdgeType,
  })),
];

function describe({ name, spec }: NamedController): string {
  const inputs = spec.inputs.map(({ kind, namespace, type, id }) => {
    const where = id === undefined ? namespace : `${namespace}/${id}`;
    return `  reads   ${type} in ${where}, ${kind}`;
  });
  const outputs = spec.outputs.map(({ kind, type }) => `  writes  ${type}, ${kind}`);
  return [`${name} (${spec.form}, ${spec.state})`, ...inputs, ...outputs]
    .map((line) => `${onOneLine(line)}\n`)
    .join("");
}

/** Graphviz, compiled for this purpose, is large, so it is the user's to install. */
async function toSvg(dot: string): Promise<string> {
  const { instance } = await import("@viz-js/viz").catch((cause: unknown) => {
    const message = "-o svg needs the package @viz-js/viz: npm install @viz-js/viz; or -o dot, for Graphviz itself";
    throw new CliError(ExitCode.failed, message, { cause });
  });
  return (await instance()).renderString(dot, { format: "svg" });
}
