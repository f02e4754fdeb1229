import {
  createResource,
  hasCode,
  jsonCodec,
  OpaqueSpec,
  type Kind,
  type Metadata,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { exitCodeOf } from "../failure.ts";
import { KNOWN_TYPES } from "./loose-type.ts";

/** What is to be written, and in place of what. */
export interface Rehearsal {
  readonly metadata: Metadata;
  readonly stored: Resource | undefined;
  readonly spec: unknown;
}

/**
 * Gives the specs that people write the form in which a State takes them.
 *
 * Where the other side knows the type, it makes a spec of what people wrote, in whatever form the type has. Where it does
 * not, it keeps what it is given, and programs that know the type read it: then it has to be JSON, unless what is stored
 * shows that the type has another form.
 */
export class SpecWriter {
  readonly #state: State;
  readonly #signal: AbortSignal;
  /** By type: whether the other side knows it. */
  readonly #knows = new Map<string, Promise<boolean>>();

  constructor(state: State, signal: AbortSignal) {
    this.#state = state;
    this.#signal = signal;
  }

  /**
   * @param stored - The spec that is to be replaced; undefined for that of a new resource.
   * @throws {CliError} failed, when only programs that know the type can write it.
   */
  async write(pointer: Pointer, stored: unknown, value: unknown): Promise<unknown> {
    const known = KNOWN_TYPES.get(pointer.type);
    const isOpaque = stored instanceof OpaqueSpec;
    if (stored === undefined ? known !== undefined : !isOpaque) return value;
    const { formatSpec } = await import("../../yaml/index.ts");
    const opaque = (bytes: Uint8Array | undefined): OpaqueSpec => new OpaqueSpec({ bytes, yaml: formatSpec(value) });
    if (known !== undefined) return opaque(known.codec.encode(known.parseSpec(value, pointer)));
    if (await this.#isKnown(pointer)) {
      const { encodeReadableSpec } = await import("../../grpc/index.ts");
      return opaque(encodeReadableSpec(value));
    }
    if (!isOpaque || isJson(stored.bytes)) return value;
    if (stored.bytes === undefined) return opaque(undefined);
    const message = "its spec travels in a binary form, which only programs that know the type can write";
    throw new CliError(ExitCode.failed, message);
  }

  /**
   * Lets the State judge a spec, and the owner in whose name it is written, without writing it: by an update to a version
   * that there never is. A State that does not know the type has nothing to say of the spec.
   *
   * @throws {StateError} what the State would refuse it for.
   */
  async rehearse({ metadata, stored, spec }: Rehearsal, owner: string | undefined): Promise<void> {
    const written = await this.write(metadata, stored?.spec, spec);
    const resource = createResource({ ...metadata, version: PROBE_VERSION }, written);
    try {
      await this.#state.update(resource, { owner, expectedPhase: "any", signal: this.#signal });
    } catch (error) {
      if (!hasCode(error, "version_conflict", stored === undefined ? "not_found" : "version_conflict")) throw error;
    }
  }

  #isKnown({ namespace, type }: Kind): Promise<boolean> {
    const asked = this.#knows.get(type) ?? this.#ask({ namespace, type, id: PROBE_ID, version: PROBE_VERSION });
    this.#knows.set(type, asked);
    return asked;
  }

  /** Tries to write what can never be written: who knows the type complains of its spec, who does not of anything else. */
  async #ask(probe: Pointer & { readonly version: string }): Promise<boolean> {
    const { isReadableRefusal, readableProbe } = await import("../../grpc/index.ts");
    const resource = createResource(probe, new OpaqueSpec({ bytes: readableProbe() }));
    try {
      await this.#state.update(resource, { expectedPhase: "any", signal: this.#signal });
    } catch (error) {
      if (this.#signal.aborted || exitCodeOf(error) === ExitCode.unavailable) throw error;
      return isReadableRefusal(error);
    }
    return false;
  }
}

/** There is no such resource; and if there were, its version would never get this far. */
const PROBE_ID = "homeostat-asks-whether-you-know-this-type";
const PROBE_VERSION = String(2n ** 63n - 1n);

function isJson(bytes: Uint8Array | undefined): boolean {
  if (bytes === undefined) return false;
  try {
    jsonCodec.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
