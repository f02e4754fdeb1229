import { formatPointer, Phase, type Metadata, type Pointer } from "../../resource/index.ts";
import type { Adapter, ControllerExplanation } from "../adapter.ts";
import type { DependencyGraph } from "../graph/dependency-graph.ts";
import type { ExplanationStep } from "./explanation.ts";

/** Links that are followed, at most. */
const MAX_DEPTH = 16;
/** Steps that are told, at most: a resource may have many finalizers. */
const MAX_STEPS = 100;

/** What a walk looks at. */
export interface ExplainedWorld {
  readonly graph: DependencyGraph;
  readonly adapters: () => Iterable<Adapter>;
  readonly adapter: (name: string) => Adapter | undefined;
  /** The metadata of a resource; undefined when it does not exist. */
  readonly metadataOf: (pointer: Pointer) => Promise<Metadata | undefined>;
}

/**
 * Goes from a resource to what holds it up: its finalizers, the controllers that put them, what those wait for or fail
 * with, the outputs that they have to remove first, and so on.
 */
export class ExplanationWalk {
  readonly steps: ExplanationStep[] = [];
  readonly actions: Set<string> = new Set<string>();
  readonly #world: ExplainedWorld;
  readonly #visited = new Set<string>();

  constructor(world: ExplainedWorld) {
    this.#world = world;
  }

  async visit(pointer: Pointer, depth = 0): Promise<void> {
    const name = formatPointer(pointer);
    if (this.#visited.has(name)) {
      this.#add({ what: `${name} is held up by what is told above: they wait for each other`, pointer });
      return;
    }
    if (depth > MAX_DEPTH) return;
    this.#visited.add(name);
    const metadata = await this.#world.metadataOf(pointer);
    if (metadata === undefined) await this.#missing(pointer, depth);
    else if (metadata.phase === Phase.tearingDown) await this.#tearingDown(pointer, metadata, depth);
    else await this.#running(pointer);
  }

  async #missing(pointer: Pointer, depth: number): Promise<void> {
    const writers = this.#world.graph.writersOf(pointer.type);
    const name = formatPointer(pointer);
    if (writers.length === 0) {
      this.#add({ what: `${name} does not exist, and no controller that is registered writes its type`, pointer });
      this.actions.add("create it, or register the controller that does");
      return;
    }
    for (const writer of writers) {
      this.#add({ what: `${name} does not exist; ${writer} writes its type`, pointer, controller: writer });
      for (const source of this.#sourcesOf(writer, pointer)) {
        const found = await this.#world.metadataOf(source);
        if (found?.phase === Phase.running) this.#controller(writer, source);
        else await this.visit(source, depth + 1);
      }
    }
  }

  /** Inputs of the same id as an output: most controllers derive one from the other. */
  #sourcesOf(writer: string, { id }: Pointer): readonly Pointer[] {
    return this.#world.graph
      .inputsOf(writer)
      .filter(({ kind }) => kind === "primary" || kind === "strong" || kind === "weak")
      .filter((input) => input.id === undefined || input.id === id)
      .map(({ namespace, type }) => ({ namespace, type, id }));
  }

  async #tearingDown(pointer: Pointer, metadata: Metadata, depth: number): Promise<void> {
    const name = formatPointer(pointer);
    const sinceMs = Date.parse(metadata.updated);
    if (metadata.finalizers.length === 0) {
      const by = metadata.owner === "" ? "the one who tore it down" : metadata.owner;
      this.#add({ what: `${name} is torn down; nothing holds it, and ${by} has to destroy it`, pointer, sinceMs });
      if (metadata.owner === "") this.actions.add(`destroy it: homeostat delete ${pointer.type} ${pointer.id}`);
      else this.#controller(metadata.owner, pointer);
      return;
    }
    for (const finalizer of metadata.finalizers) {
      if (this.steps.length >= MAX_STEPS) return;
      await this.#held(pointer, finalizer, sinceMs, depth);
    }
  }

  async #held(pointer: Pointer, finalizer: string, sinceMs: number, depth: number): Promise<void> {
    const name = formatPointer(pointer);
    const holders = [...this.#world.adapters()].filter((adapter) => adapter.finalizers.has(finalizer));
    if (holders.length === 0) {
      const what = `${name} is tearing down, held by the finalizer ${finalizer}: no controller that runs here has put it there`;
      this.#add({ what, pointer, finalizer, sinceMs });
      this.actions.add(
        `start the controller that removes ${finalizer}; if there is none any more and what it guarded is gone: ` +
          `homeostat finalizer release ${pointer.type} ${pointer.id} ${finalizer} (what it guarded is then left as it is)`,
      );
      return;
    }
    for (const { name: controller } of holders) {
      const what = `${name} is tearing down, held by the finalizer ${finalizer} of ${controller}`;
      this.#add({ what, pointer, finalizer, controller, sinceMs });
      this.#controller(controller, pointer);
      await this.#outputsOf(controller, pointer, depth);
    }
  }

  /** Outputs of the same id that a controller has to remove before it lets its input go. */
  async #outputsOf(controller: string, { id, ...kind }: Pointer, depth: number): Promise<void> {
    for (const { type } of this.#world.graph.outputsOf(controller)) {
      const inputs = this.#world.graph.inputsOf(controller).filter((input) => input.type === type);
      for (const namespace of new Set([kind.namespace, ...inputs.map((input) => input.namespace)])) {
        const output = { namespace, type, id };
        const metadata = await this.#world.metadataOf(output);
        if (metadata?.owner === controller && metadata.phase === Phase.tearingDown) await this.visit(output, depth + 1);
      }
    }
  }

  async #running(pointer: Pointer): Promise<void> {
    const { graph } = this.#world;
    const names = new Set([
      ...graph.dependentsOf(pointer.namespace, pointer.type, pointer.id),
      ...graph.writersOf(pointer.type),
    ]);
    for (const name of names) this.#controller(name, pointer);
    // It may be out of date, because its writer cannot cope with what it is made of.
    for (const writer of graph.writersOf(pointer.type)) {
      for (const source of this.#sourcesOf(writer, pointer)) {
        if ((await this.#world.metadataOf(source)) !== undefined) this.#controller(writer, source);
      }
    }
  }

  /** What keeps a controller from being done with a resource, if anything does. */
  #controller(name: string, pointer: Pointer): void {
    const adapter = this.#world.adapter(name);
    if (adapter === undefined) {
      this.#add({ what: `no controller called ${name} is registered`, pointer, controller: name });
      this.actions.add(`start the program that runs ${name}`);
      return;
    }
    const { state, dueInMs, lastError, outcomes } = adapter.explain(pointer);
    const last = outcomes.at(-1);
    const step = { pointer, controller: name, dueInMs };
    if (lastError !== undefined) {
      this.#add({ ...step, what: `${name} failed: ${lastError.message}`, sinceMs: failingSince(outcomes) });
      this.actions.add(`mend what ${name} fails with; it tries again by itself`);
    } else if (state === "ended") {
      this.#add({ ...step, what: `${name} has ended for good`, sinceMs: last?.atMs });
      this.actions.add(`start the program that runs ${name} again`);
    } else if (state === "running") {
      this.#add({ ...step, what: `${name} is at work on it`, sinceMs: last?.atMs });
    } else if (last?.kind === "skipped" && state === "idle") {
      this.#add({ ...step, what: `${name} waits: ${last.reason ?? "it gave no reason"}`, sinceMs: last.atMs });
    } else if (state === "waiting") {
      this.#add({ ...step, what: `${name} will look at it` });
    }
  }

  #add(step: ExplanationStep): void {
    if (this.steps.length < MAX_STEPS && this.steps.every(({ what }) => what !== step.what)) this.steps.push(step);
  }
}

/** Since when it has done nothing but fail, as far as is remembered. */
function failingSince(outcomes: ControllerExplanation["outcomes"]): number | undefined {
  const lastGood = outcomes.findLastIndex(({ kind }) => kind !== "failed");
  return outcomes[lastGood + 1]?.atMs;
}
