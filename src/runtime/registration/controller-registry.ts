import type { Controller, QueueController } from "../../controller/index.ts";
import { toError } from "../../internal/to-error.ts";
import type { Adapter, DeclaredClassic, DeclaredQueue } from "../adapter.ts";
import { declareController } from "./declare-controller.ts";
import { sameInput, type DeclaredInput } from "../declared-input.ts";
import type { ControllerStatus } from "../explain/controller-status.ts";
import { DependencyGraph } from "../graph/dependency-graph.ts";
import { WriteLedger } from "../causes/write-ledger.ts";
import { RegistrationError } from "../registration-error.ts";

/** The controllers of one runtime: their names, their declarations in the graph, their adapters. */
export class ControllerRegistry {
  readonly graph: DependencyGraph = new DependencyGraph();
  /** Which controller made a change. */
  readonly writes: WriteLedger = new WriteLedger();
  readonly #adapters = new Map<string, Adapter>();

  get(name: string): Adapter | undefined {
    return this.#adapters.get(name);
  }

  /** @throws {RegistrationError} `unknown_controller` */
  expect(name: string): Adapter {
    const adapter = this.#adapters.get(name);
    if (adapter !== undefined) return adapter;
    throw new RegistrationError("unknown_controller", name, `no controller ${JSON.stringify(name)} is registered`);
  }

  /** In order of registration. */
  adapters(): Iterable<Adapter> {
    return this.#adapters.values();
  }

  /** What each declared, and how it does. In order of registration. */
  statuses(): readonly ControllerStatus[] {
    return Array.from(this.#adapters.values(), (adapter) => ({
      ...adapter.status(),
      name: adapter.name,
      inputs: this.graph.inputsOf(adapter.name),
      outputs: this.graph.outputsOf(adapter.name),
    }));
  }

  /**
   * Records a controller and its adapter, or throws and leaves no trace.
   *
   * @throws {RegistrationError}
   */
  admit(
    controller: Controller | QueueController,
    makeAdapter: (declared: DeclaredClassic | DeclaredQueue) => Adapter,
  ): Adapter {
    const { name } = controller;
    try {
      if (this.#adapters.has(name)) {
        const text = `a controller named ${JSON.stringify(name)} is registered already`;
        throw new RegistrationError("name_taken", name, text);
      }
      const declared = declareController(controller);
      return this.#add(declared, makeAdapter);
    } catch (error) {
      throw error instanceof RegistrationError ? setUpFailed(error.code, name, error) : error;
    }
  }

  /** Removes every trace of a controller. */
  withdraw(name: string): void {
    this.#adapters.delete(name);
    this.graph.remove(name);
  }

  /** Those of `inputs` that the controller does not have as they are. */
  newInputs(name: string, inputs: readonly DeclaredInput[]): readonly DeclaredInput[] {
    const present = this.graph.inputsOf(name);
    return inputs.filter((input) => !present.some((old) => sameInput(old, input)));
  }

  /** Replaces the inputs of a controller. What stays is not touched. */
  replaceInputs(name: string, inputs: readonly DeclaredInput[]): void {
    const added = this.newInputs(name, inputs);
    for (const old of this.graph.inputsOf(name)) {
      if (!inputs.some((input) => sameInput(old, input))) this.graph.deleteInput(name, old);
    }
    for (const input of added) this.graph.addInput(name, input);
    this.#trackOwnWrites(name);
  }

  /** A controller can wake itself where it depends on what it writes. */
  #trackOwnWrites(name: string): void {
    const written = new Set(this.graph.outputsOf(name).map(({ type }) => type));
    for (const input of this.graph.inputsOf(name)) if (written.has(input.type)) this.writes.track(input);
  }

  #add<D extends DeclaredClassic | DeclaredQueue>(declared: D, makeAdapter: (declared: D) => Adapter): Adapter {
    const { name, inputs, outputs } = declared;
    try {
      for (const output of outputs) this.graph.addOutput(name, output);
      for (const input of inputs) this.graph.addInput(name, input);
      const adapter = makeAdapter(declared);
      this.#adapters.set(name, adapter);
      this.#trackOwnWrites(name);
      return adapter;
    } catch (error) {
      this.graph.remove(name);
      throw error;
    }
  }
}

/** The error of a registration that failed, whatever the reason. */
export function setUpFailed(code: RegistrationError["code"], name: string, cause: unknown): RegistrationError {
  const { message } = toError(cause, "the State");
  const text = `setting up the adapter of controller ${JSON.stringify(name)} failed: ${message}`;
  return new RegistrationError(code, name, text, { cause });
}
