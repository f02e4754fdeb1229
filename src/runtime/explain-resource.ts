import type { Pointer } from "../resource/index.ts";
import { getOrNull, type CoreState } from "../state/index.ts";
import { explain } from "./explain/explain.ts";
import type { Explanation } from "./explain/explanation.ts";
import { ExplanationWalk } from "./explain/explanation-walk.ts";
import type { ControllerRegistry } from "./registration/controller-registry.ts";

/** Why a resource is not as it should be, from what the State and the controllers say. */
export async function explainResource(
  { namespace, type, id }: Pointer,
  core: CoreState,
  controllers: ControllerRegistry,
  phase: "new" | "running" | "stopped",
): Promise<Explanation> {
  const pointer = { namespace, type, id };
  const metadataOf = async (one: Pointer) => (await getOrNull(core, one))?.metadata;
  const metadata = await metadataOf(pointer);
  const { graph } = controllers;
  const writers = graph.writersOf(type);
  const names = new Set([...graph.dependentsOf(namespace, type, id), ...writers]);
  const concerned = [...names].flatMap((name) => controllers.get(name)?.explain(pointer) ?? []);
  const walk = new ExplanationWalk({
    graph,
    adapters: () => controllers.adapters(),
    adapter: (name) => controllers.get(name),
    metadataOf,
  });
  await walk.visit(pointer);
  return explain(pointer, metadata, writers, concerned, phase, walk);
}
