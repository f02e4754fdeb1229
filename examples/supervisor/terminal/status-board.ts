import type { Immutable } from "homeostat";

import type { ManifestStatusSpec, ServiceStatusSpec } from "../resources/index.ts";
import { formatProblem, type Happening } from "./describe-change.ts";

/** Happenings that are remembered. */
const MOST_HAPPENINGS = 200;

/** What is known at present, ready to be shown. */
export class StatusBoard {
  readonly #services = new Map<string, Immutable<ServiceStatusSpec>>();
  readonly #manifests = new Map<string, Immutable<ManifestStatusSpec>>();
  readonly #happenings: (Happening & { readonly at: Date })[] = [];

  #onEmpty: (() => void) | undefined;

  note(happening: Happening): void {
    this.#happenings.push({ ...happening, at: new Date() });
    if (this.#happenings.length > MOST_HAPPENINGS) this.#happenings.shift();
  }

  /** Undefined removes it. */
  setService(name: string, status: Immutable<ServiceStatusSpec> | undefined): void {
    if (status === undefined) this.#services.delete(name);
    else this.#services.set(name, status);
    if (this.#services.size === 0) this.#onEmpty?.();
  }

  /** Resolves when no service is on the board. */
  whenEmpty(): Promise<void> {
    if (this.#services.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Undefined removes it. */
  setManifest(file: string, status: Immutable<ManifestStatusSpec> | undefined): void {
    if (status === undefined) this.#manifests.delete(file);
    else this.#manifests.set(file, status);
  }

  /** By name. */
  get services(): { readonly name: string; readonly status: Immutable<ServiceStatusSpec> }[] {
    return Array.from(this.#services, ([name, status]) => ({ name, status })).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }

  /** By file. */
  get problems(): string[] {
    return [...this.#manifests.keys()]
      .sort()
      .flatMap((file) => (this.#manifests.get(file)?.problems ?? []).map((problem) => formatProblem(file, problem)));
  }

  /** Oldest first. */
  get happenings(): readonly (Happening & { readonly at: Date })[] {
    return this.#happenings;
  }
}
