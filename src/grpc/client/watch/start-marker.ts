import { StateError } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { describeTarget, type WatchTarget } from "./watch-target.ts";

/**
 * The `Noop` event that the watch of one resource asked for. Servers that know it only for watches of a kind, Go's among
 * them, pass over the wish; their first events show it, and the reader must not wait for ever.
 */
export class StartMarker {
  readonly #target: WatchTarget;
  #isDue: boolean;
  /** The present state comes before the marker. */
  #mayPrecede: boolean;

  constructor(target: WatchTarget) {
    const { id, showsNoop, start } = target;
    this.#target = target;
    this.#isDue = id !== undefined && showsNoop;
    this.#mayPrecede = start.startFromBookmark === undefined && (start.tailEvents ?? 0) === 0;
  }

  /** Looks at the next events. Returns why the watch fails, once it is clear that the server sends no marker. */
  missingIn(
    events: readonly { readonly type: string; readonly bookmark?: Uint8Array | undefined }[],
  ): Error | undefined {
    for (const { type, bookmark } of events) {
      if (!this.#isDue || type === EventType.errored) return undefined;
      const isPresentState = this.#mayPrecede && bookmark !== undefined;
      this.#mayPrecede = false;
      if (isPresentState && type !== EventType.noop) continue;
      this.#isDue = false;
      if (type !== EventType.noop) return this.#missing();
    }
    return undefined;
  }

  /** The watch goes on over another stream, which begins with no marker. */
  waive(): void {
    this.#isDue = false;
  }

  #missing(): StateError {
    const message = `${describeTarget(this.#target)} cannot have bootstrapBookmark: the server tells no position there`;
    return new StateError("unsupported", message);
  }
}
