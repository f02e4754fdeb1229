import { OutputKind } from "../../controller/index.ts";
import { compareText } from "../../internal/compare-text.ts";
import { compareInputs, formatInput, sameInputKey, type DeclaredInput } from "../declared-input.ts";
import type { EdgeType, GraphEdge } from "./graph-edge.ts";
import { KindMap } from "../kind-map.ts";
import { RegistrationError } from "../registration-error.ts";

/** A claim to write a type, in any namespace. */
export interface DeclaredOutput {
  readonly type: string;
  readonly kind: OutputKind;
}

/** One controller that depends on something, and through which input. */
export interface Dependent {
  readonly controller: string;
  readonly input: DeclaredInput;
}

/** Who depends on one kind. */
export interface KindDependents {
  /** Those that depend on the whole kind, in order of registration. */
  readonly wide: readonly Dependent[];
  /** Those that depend on one resource of it, by its id. */
  readonly byId: ReadonlyMap<string, readonly Dependent[]>;
}

interface MutableDependents {
  readonly wide: Dependent[];
  readonly byId: Map<string, Dependent[]>;
}

const NO_DEPENDENTS: KindDependents = { wide: [], byId: new Map() };

/** Who writes what, and who depends on what. Each single operation either holds or changes nothing. */
export class DependencyGraph {
  readonly #exclusive = new Map<string, string>();
  /** Type → names, sorted. */
  readonly #shared = new Map<string, string[]>();
  readonly #dependents = new KindMap<MutableDependents>();
  /** Controller → its inputs, sorted. */
  readonly #inputs = new Map<string, DeclaredInput[]>();
  #revision = 0;

  /** Grows with every change of inputs: what was derived from an older one is stale. */
  get revision(): number {
    return this.#revision;
  }

  /** @throws {RegistrationError} `output_conflict`, `duplicate_output` */
  addOutput(controller: string, { type, kind }: DeclaredOutput): void {
    const owner = this.#exclusive.get(type);
    if (owner !== undefined) {
      throw new RegistrationError(
        "output_conflict",
        controller,
        `resource ${type} is already managed in exclusive mode by controller ${JSON.stringify(owner)}`,
      );
    }
    const sharers = this.#shared.get(type) ?? [];
    if (kind === OutputKind.exclusive) {
      const [first] = sharers;
      if (first !== undefined) {
        throw new RegistrationError(
          "output_conflict",
          controller,
          `resource ${type} is already managed in shared mode by controller ${JSON.stringify(first)}`,
        );
      }
      this.#exclusive.set(type, controller);
      return;
    }
    if (sharers.includes(controller)) {
      throw new RegistrationError(
        "duplicate_output",
        controller,
        `duplicate shared output ${type} of controller ${JSON.stringify(controller)}`,
      );
    }
    this.#shared.set(type, [...sharers, controller].sort(compareText));
  }

  /** The outputs of a controller: exclusive ones first, each group sorted by type. */
  outputsOf(controller: string): DeclaredOutput[] {
    const claims = (types: Iterable<string>, kind: OutputKind) =>
      [...types].sort(compareText).map((type) => ({ type, kind }));
    const exclusive = [...this.#exclusive.keys()].filter((type) => this.#exclusive.get(type) === controller);
    const shared = [...this.#shared.keys()].filter((type) => this.#shared.get(type)?.includes(controller));
    return [...claims(exclusive, OutputKind.exclusive), ...claims(shared, OutputKind.shared)];
  }

  /** The only writer of a type, if it has one. */
  exclusiveControllerOf(type: string): string | undefined {
    return this.#exclusive.get(type);
  }

  /** Everyone who may write a type, sorted. */
  writersOf(type: string): string[] {
    const owner = this.#exclusive.get(type);
    return owner === undefined ? [...(this.#shared.get(type) ?? [])] : [owner];
  }

  /** @throws {RegistrationError} `duplicate_input` */
  addInput(controller: string, input: DeclaredInput): void {
    const inputs = this.#inputs.get(controller) ?? [];
    if (inputs.some((other) => sameInputKey(other, input))) throw duplicateInput(controller, input);
    this.#inputs.set(controller, [...inputs, input].sort(compareInputs));
    const dependents = this.#dependents.ensure(input, () => ({ wide: [], byId: new Map<string, Dependent[]>() }));
    const dependent = { controller, input };
    if (input.id === undefined) dependents.wide.push(dependent);
    else {
      const forId = dependents.byId.get(input.id);
      if (forId === undefined) dependents.byId.set(input.id, [dependent]);
      else forId.push(dependent);
    }
    this.#revision++;
  }

  /** @throws {Error} when the controller has no such input; its kind does not matter. */
  deleteInput(controller: string, input: DeclaredInput): void {
    const inputs = this.#inputs.get(controller) ?? [];
    const kept = inputs.filter((other) => !sameInputKey(other, input));
    if (kept.length === inputs.length) {
      throw new Error(`controller ${JSON.stringify(controller)} has no input ${formatInput(input)}`);
    }
    this.#inputs.set(controller, kept);
    this.#forget(controller, input);
    this.#revision++;
  }

  /** A sorted copy. */
  inputsOf(controller: string): DeclaredInput[] {
    return [...(this.#inputs.get(controller) ?? [])];
  }

  /** Names of those who depend on one resource: through its kind first, then through its id. Not de-duplicated. */
  dependentsOf(namespace: string, type: string, id: string): string[] {
    const { wide, byId } = this.dependentsOfKind(namespace, type);
    return [...wide, ...(byId.get(id) ?? [])].map(({ controller }) => controller);
  }

  /** A live view. */
  dependentsOfKind(namespace: string, type: string): KindDependents {
    return this.#dependents.get(namespace, type) ?? NO_DEPENDENTS;
  }

  /** Removes all traces of a controller. */
  remove(controller: string): void {
    for (const input of this.#inputs.get(controller) ?? []) this.#forget(controller, input);
    this.#inputs.delete(controller);
    for (const [type, owner] of this.#exclusive) if (owner === controller) this.#exclusive.delete(type);
    for (const [type, sharers] of this.#shared) {
      const kept = sharers.filter((name) => name !== controller);
      if (kept.length === 0) this.#shared.delete(type);
      else this.#shared.set(type, kept);
    }
    this.#revision++;
  }

  /**
   * All edges: exclusive outputs, then shared outputs, then inputs; each group by controller, namespace, type, id.
   * Outputs have no namespace and no id; both are then the empty text.
   */
  edges(): GraphEdge[] {
    const output = (controller: string, type: string, edge: EdgeType): GraphEdge => {
      return { controller, namespace: "", type, id: "", edge };
    };
    const exclusive = [...this.#exclusive].map(([type, name]) => output(name, type, OutputKind.exclusive));
    const shared = [...this.#shared].flatMap(([type, names]) =>
      names.map((name) => output(name, type, OutputKind.shared)),
    );
    const inputs = [...this.#inputs].flatMap(([controller, list]) =>
      list.map(({ namespace, type, id, kind }) => ({ controller, namespace, type, id: id ?? "", edge: kind })),
    );
    return [exclusive, shared, inputs].flatMap((group) => group.sort(compareEdges));
  }

  #forget(controller: string, input: DeclaredInput): void {
    const dependents = this.#dependents.get(input.namespace, input.type);
    if (dependents === undefined) return;
    if (input.id === undefined) drop(dependents.wide, controller);
    else {
      const forId = dependents.byId.get(input.id);
      if (forId !== undefined && drop(forId, controller)) dependents.byId.delete(input.id);
    }
  }
}

export function duplicateInput(controller: string, input: DeclaredInput): RegistrationError {
  return new RegistrationError(
    "duplicate_input",
    controller,
    `duplicate controller input ${formatInput(input)} of controller ${JSON.stringify(controller)}`,
  );
}

/** True when the list is empty afterwards. */
function drop(list: Dependent[], controller: string): boolean {
  const at = list.findIndex((dependent) => dependent.controller === controller);
  if (at >= 0) list.splice(at, 1);
  return list.length === 0;
}

function compareEdges(a: GraphEdge, b: GraphEdge): number {
  return (
    compareText(a.controller, b.controller) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.type, b.type) ||
    compareText(a.id, b.id)
  );
}
