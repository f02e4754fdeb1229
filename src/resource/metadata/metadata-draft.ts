import { copyDictionary, sameDictionary, sealDictionary, type Dictionary } from "./dictionary.ts";
import { sameFinalizers, sealFinalizers, withFinalizers, withoutFinalizers, type Finalizers } from "./finalizers.ts";
import { withEdits } from "./metadata-copies.ts";
import { assertOwnerSettable, checkText, part, type Metadata } from "./metadata.ts";
import { parsePhase, type Phase } from "./phase.ts";

/** What an update function may change. Parts are copied when first touched, so a draft costs nothing until used. */
export class MetadataDraft {
  readonly #base: Metadata;
  #owner: string;
  #labels: Record<string, string> | undefined;
  #annotations: Record<string, string> | undefined;
  #finalizers: Finalizers;
  /** Any of the two phases may follow the other. */
  phase: Phase;

  constructor(base: Metadata) {
    this.#base = base;
    this.#owner = base.owner;
    this.#finalizers = base.finalizers;
    this.phase = base.phase;
  }

  get namespace(): string {
    return this.#base.namespace;
  }

  get type(): string {
    return this.#base.type;
  }

  get id(): string {
    return this.#base.id;
  }

  /** The version that the change starts from. The State computes the next one. */
  get version(): string {
    return this.#base.version;
  }

  get owner(): string {
    return this.#owner;
  }

  /** An owner is set once. @throws {StateError} `invalid` when another one is set. */
  set owner(owner: string) {
    checkText("owner", owner);
    assertOwnerSettable(this.#base, this.#owner, owner);
    this.#owner = owner;
  }

  get labels(): Record<string, string> {
    return (this.#labels ??= copyDictionary(this.#base.labels));
  }

  set labels(labels: Readonly<Record<string, string>>) {
    this.#labels = copyDictionary(part("labels", sealDictionary, labels));
  }

  get annotations(): Record<string, string> {
    return (this.#annotations ??= copyDictionary(this.#base.annotations));
  }

  set annotations(annotations: Readonly<Record<string, string>>) {
    this.#annotations = copyDictionary(part("annotations", sealDictionary, annotations));
  }

  get finalizers(): Finalizers {
    return this.#finalizers;
  }

  set finalizers(names: readonly string[]) {
    this.#finalizers = part("finalizers", sealFinalizers, names);
  }

  /** True when the finalizer was not there. */
  addFinalizer(name: string): boolean {
    return this.#changeFinalizers(withFinalizers(this.#finalizers, name));
  }

  /** True when the finalizer was there. */
  removeFinalizer(name: string): boolean {
    return this.#changeFinalizers(withoutFinalizers(this.#finalizers, name));
  }

  /**
   * The drafted metadata; the base itself when nothing differs.
   *
   * @throws {StateError} `invalid` when a field has the wrong shape; the message names it.
   */
  seal(): Metadata {
    const base = this.#base;
    const labels = sealPart("labels", this.#labels, base.labels);
    const annotations = sealPart("annotations", this.#annotations, base.annotations);
    const finalizers = sameFinalizers(this.#finalizers, base.finalizers) ? base.finalizers : this.#finalizers;
    const phase = parsePhase(this.phase);
    const isSame =
      labels === base.labels &&
      annotations === base.annotations &&
      finalizers === base.finalizers &&
      phase === base.phase &&
      this.#owner === base.owner;
    if (isSame) return base;
    return withEdits(base, { owner: this.#owner, phase, finalizers, labels, annotations });
  }

  #changeFinalizers(changed: Finalizers): boolean {
    const differs = changed !== this.#finalizers;
    this.#finalizers = changed;
    return differs;
  }
}

/** The drafted entries, frozen; those of the base when they were not touched or come to the same. */
function sealPart(field: string, drafted: Record<string, string> | undefined, base: Dictionary): Dictionary {
  if (drafted === undefined) return base;
  const sealed = part(field, sealDictionary, drafted);
  return sameDictionary(sealed, base) ? base : sealed;
}
