import { defineResource, shape, type AnyResourceType, type Kind, type ResourceType } from "../../resource/index.ts";

/** The namespace in which a served control plane shows its engine. The user's own types may live there as well. */
export const ENGINE_NAMESPACE = "runtime";

/** What an {@link EngineController} says. Times are RFC 3339; counts are since the start. */
export interface EngineControllerSpec {
  /** `classic` or `queue`. */
  form: string;
  /** As in `ControllerStatus`. */
  state: string;
  /** Keys that wait, and keys that are worked on. */
  queueLength: number;
  processing: number;
  /** Keys that were worked on; wake-ups of a classic controller. */
  runs: number;
  failures: number;
  skips: number;
  requeues: number;
  /** Wake-ups that its own writes alone caused. */
  ownWakeups: number;
  reads: number;
  writes: number;
  /** When a classic controller runs again, in whole seconds. */
  retryAt?: string | undefined;
  /** Also when all went well since. The id is that of the key. */
  lastFailure?: { message: string; at: string; id?: string | undefined } | undefined;
  inputs: { kind: string; namespace: string; type: string; id?: string | undefined }[];
  outputs: { kind: string; type: string }[];
}

/** One per controller of the runtime; the id is its name. */
export const EngineController: ResourceType<EngineControllerSpec, "Controllers.runtime.homeostat.dev"> = defineResource(
  {
    type: "Controllers.runtime.homeostat.dev",
    namespace: ENGINE_NAMESPACE,
    spec: shape({
      form: "string",
      state: "string",
      queueLength: "integer",
      processing: "integer",
      runs: "integer",
      failures: "integer",
      skips: "integer",
      requeues: "integer",
      ownWakeups: "integer",
      reads: "integer",
      writes: "integer",
      "retryAt?": "string",
      "lastFailure?": { message: "string", at: "string", "id?": "string" },
      inputs: [{ kind: "string", namespace: "string", type: "string", "id?": "string" }],
      outputs: [{ kind: "string", type: "string" }],
    }),
    columns: {
      Form: "$.form",
      State: "$.state",
      Queue: "$.queueLength",
      Runs: "$.runs",
      Failures: "$.failures",
      "Last failure": "$.lastFailure.message",
    },
  },
);
interface Address {
  namespace: string;
  type: string;
  id: string;
}

/** What an {@link EngineExplanation} says: see `Explanation`. Times are RFC 3339, `retryAt` in whole seconds. */
export interface EngineExplanationSpec {
  resource: Address;
  exists: boolean;
  /** Empty when it does not exist. */
  phase: string;
  reasons: string[];
  steps: {
    what: string;
    resource: Address;
    controller?: string | undefined;
    finalizer?: string | undefined;
    since?: string | undefined;
    retryAt?: string | undefined;
  }[];
  actions: string[];
}

/**
 * Why a resource is, or is not, as it should be; the id is {@link explanationId} of the resource. It is made when it is
 * asked for by id, and watched as long as it was asked for lately.
 */
export const EngineExplanation: ResourceType<EngineExplanationSpec, "Explanations.runtime.homeostat.dev"> =
  defineResource({
    type: "Explanations.runtime.homeostat.dev",
    namespace: ENGINE_NAMESPACE,
    spec: shape({
      resource: { namespace: "string", type: "string", id: "string" },
      exists: "boolean",
      phase: "string",
      reasons: ["string"],
      steps: [
        {
          what: "string",
          resource: { namespace: "string", type: "string", id: "string" },
          "controller?": "string",
          "finalizer?": "string",
          "since?": "string",
          "retryAt?": "string",
        },
      ],
      actions: ["string"],
    }),
    columns: { Phase: "$.phase", Step: "$.steps[0].what" },
  });
/** The types that a served control plane shows of its engine. */
export const ENGINE_TYPES: readonly AnyResourceType[] = [EngineController, EngineExplanation];

/** True for the kinds of {@link ENGINE_TYPES}. */
export const isEngineKind = ({ namespace, type }: Kind): boolean =>
  namespace === ENGINE_NAMESPACE && ENGINE_TYPES.some((one) => one.type === type);

/** The id of a resource's explanation: `TYPE/NAMESPACE/ID`, each part percent-encoded where it has a slash. */
export const explanationId = (type: string, namespace: string, id: string): string =>
  [type, namespace, id].map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");

/** Undefined when the text is no {@link explanationId}. */
export function parseExplanationId(
  text: string,
): { readonly type: string; readonly namespace: string; readonly id: string } | undefined {
  const parts = text.split("/");
  const [type, namespace, id] = parts.map((part) => part.replaceAll("%2F", "/").replaceAll("%25", "%"));
  if (parts.length !== 3 || !type || namespace === undefined || !id) return undefined;
  return { type, namespace, id };
}
