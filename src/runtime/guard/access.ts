import { formatInput, type DeclaredInput } from "../declared-input.ts";
import type { DeclaredOutput } from "../graph/dependency-graph.ts";
import { UndeclaredCode, UndeclaredError } from "../../controller/index.ts";

/** What one kind of a controller's inputs allows. */
class KindAccess {
  readAll = false;
  finalizeAll = false;
  readonly readIds = new Set<string>();
  readonly finalizeIds = new Set<string>();
}

interface TypeAccess {
  readonly byNamespace: Map<string, KindAccess>;
  output: boolean;
}

/** What a controller may do, worked out once from its declarations; each question is one or two look-ups. */
export class Access {
  readonly #controller: string;
  readonly #types = new Map<string, TypeAccess>();

  constructor(controller: string, inputs: Iterable<DeclaredInput>, outputs: Iterable<DeclaredOutput>) {
    this.#controller = controller;
    for (const { type } of outputs) this.#type(type).output = true;
    for (const input of inputs) this.#addInput(input);
  }

  /** The error of a read that the declarations do not cover. Without an id it is a list. */
  refuseRead(namespace: string, type: string, id?: string): UndeclaredError | undefined {
    const access = this.#types.get(type);
    if (access !== undefined) {
      if (access.output) return undefined;
      const kind = access.byNamespace.get(namespace);
      if (kind !== undefined && (kind.readAll || (id !== undefined && kind.readIds.has(id)))) return undefined;
    }
    const what = formatInput({ namespace, type, id });
    return this.#refuse(
      UndeclaredCode.read,
      { namespace, type, id },
      `attempt to query resource ${what}, which is neither input nor output`,
    );
  }

  /** The error of a write to a type that is no output. */
  refuseWrite(operation: string, namespace: string, type: string, id: string): UndeclaredError | undefined {
    if (this.#types.get(type)?.output === true) return undefined;
    const what = `resource ${type} in ${JSON.stringify(namespace)} is not an output; ${operation} attempted on ${JSON.stringify(id)}`;
    return this.#refuse(UndeclaredCode.write, { namespace, type, id }, what);
  }

  /** The error of a change of finalizers of something that is no strong, primary or mapped input. */
  refuseFinalizer(namespace: string, type: string, id: string): UndeclaredError | undefined {
    const kind = this.#types.get(type)?.byNamespace.get(namespace);
    if (kind !== undefined && (kind.finalizeAll || kind.finalizeIds.has(id))) return undefined;
    const what = formatInput({ namespace, type, id });
    return this.#refuse(
      UndeclaredCode.finalizer,
      { namespace, type, id },
      `attempt to change finalizers of ${what}, which is not a strong, primary or mapped input`,
    );
  }

  #refuse(code: UndeclaredCode, pointer: UndeclaredError["pointer"], text: string): UndeclaredError {
    return new UndeclaredError(
      code,
      `controller ${JSON.stringify(this.#controller)}: ${text}`,
      this.#controller,
      pointer,
    );
  }

  #type(type: string): TypeAccess {
    let access = this.#types.get(type);
    if (access === undefined) this.#types.set(type, (access = { byNamespace: new Map(), output: false }));
    return access;
  }

  #addInput({ namespace, type, id, kind }: DeclaredInput): void {
    const { byNamespace } = this.#type(type);
    let access = byNamespace.get(namespace);
    if (access === undefined) byNamespace.set(namespace, (access = new KindAccess()));
    const finalizes = kind === "strong" || kind === "primary" || kind === "mapped";
    if (id === undefined) {
      access.readAll = true;
      access.finalizeAll ||= finalizes;
    } else {
      access.readIds.add(id);
      if (finalizes) access.finalizeIds.add(id);
    }
  }
}
