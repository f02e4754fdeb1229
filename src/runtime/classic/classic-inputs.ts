import type { Input } from "../../controller/index.ts";
import type { Kind } from "../../resource/index.ts";
import type { AdapterParts, DeclaredClassic } from "../adapter.ts";
import { declareClassicInputs } from "../registration/declare-controller.ts";
import { formatInput, type DeclaredInput } from "../declared-input.ts";
import { Access } from "../guard/access.ts";
import { RegistrationError } from "../registration-error.ts";

/**
 * The inputs that a classic controller has now: those that it declared or asked for last, and those that the engine adds
 * to learn when an output is released.
 */
export class ClassicInputs {
  readonly #declared: DeclaredClassic;
  readonly #parts: Pick<AdapterParts, "watchInputs" | "replaceInputs">;
  readonly #allow: (access: Access) => void;
  /** Types that may become inputs. */
  readonly #types: ReadonlySet<string>;
  #own: readonly DeclaredInput[];
  #implied: readonly DeclaredInput[] = [];
  /** Calls of {@link update}, and the last of them whose inputs are in force. */
  #asked = 0;
  #inForce = 0;

  constructor(
    declared: DeclaredClassic,
    parts: Pick<AdapterParts, "watchInputs" | "replaceInputs">,
    allow: (access: Access) => void,
  ) {
    this.#declared = declared;
    this.#parts = parts;
    this.#allow = allow;
    this.#own = declared.inputs;
    this.#types = new Set([...declared.inputs.map(({ type }) => type), ...declared.dynamicTypes]);
  }

  /**
   * The last call wins, whichever watches open first.
   *
   * @throws {RegistrationError} `invalid_input` for a type that was not announced; `duplicate_input`.
   */
  async update(inputs: readonly Input[]): Promise<void> {
    const { name } = this.#declared;
    const wanted = declareClassicInputs(name, inputs);
    for (const input of wanted) {
      if (this.#types.has(input.type)) continue;
      const text = `controller ${JSON.stringify(name)} cannot add ${formatInput(input)}: its dynamicInputs do not name the type`;
      throw new RegistrationError("invalid_input", name, text);
    }
    const call = ++this.#asked;
    await this.#parts.watchInputs(name, wanted);
    if (call < this.#inForce) {
      throw new Error(`the inputs of controller ${JSON.stringify(name)} were replaced by a later updateInputs`);
    }
    this.#inForce = call;
    this.#own = wanted;
    this.#apply();
  }

  /** From now on the controller wakes when a resource of the kind is tearing down and has no finalizers. */
  async wakeWhenReleased({ namespace, type }: Kind): Promise<void> {
    const input: DeclaredInput = { namespace, type, id: undefined, kind: "destroyReady" };
    if ([...this.#own, ...this.#implied].some((other) => isWide(other, input))) return;
    await this.#parts.watchInputs(this.#declared.name, [input]);
    if (!this.#implied.some((other) => isWide(other, input))) this.#implied = [...this.#implied, input];
    this.#apply();
  }

  #apply(): void {
    const { name, outputs } = this.#declared;
    const implied = this.#implied.filter((input) => !this.#own.some((own) => isWide(own, input)));
    this.#parts.replaceInputs(name, [...this.#own, ...implied]);
    this.#allow(new Access(name, this.#own, outputs));
  }
}

/** True for an input that is all of the kind: each of them wakes on what is destroy-ready. */
function isWide({ namespace, type, id }: DeclaredInput, kind: Kind): boolean {
  return id === undefined && type === kind.type && namespace === kind.namespace;
}
