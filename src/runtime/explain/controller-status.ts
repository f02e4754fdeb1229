import type { InputKind, OutputKind } from "../../controller/index.ts";
import type { Outcome } from "./outcome-log.ts";

/** What a controller is doing, whatever it works on. */
export interface AdapterStatus {
  readonly form: "classic" | "queue";
  /**
   * Classic: whether a wake-up waits, it runs, waits to restart, or has ended for good. Queue: whether a key is worked on,
   * keys wait (also for the end of their backoff), or there is nothing to do.
   */
  readonly state: "idle" | "waiting" | "running" | "backoff" | "ended";
  /** Keys that wait. Unit: keys; 0 for a classic controller. */
  readonly queueLength: number;
  /** Keys that are worked on. Unit: keys; at most 1 for a classic controller. */
  readonly processing: number;
  /** Milliseconds until a classic controller runs again, where that is known. */
  readonly dueInMs?: number | undefined;
  /** The last failure, also when all went well since. */
  readonly lastFailure?: Failure | undefined;
}

/** A failure of a controller, for people to read. */
export interface Failure {
  readonly message: string;
  /** Wall-clock time, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The key that failed; undefined for a classic controller. */
  readonly id?: string | undefined;
}

/** One controller of a runtime: what it declared, and how it does. */
export interface ControllerStatus extends AdapterStatus {
  readonly name: string;
  readonly inputs: readonly {
    readonly kind: InputKind;
    readonly namespace: string;
    readonly type: string;
    readonly id?: string | undefined;
  }[];
  readonly outputs: readonly { readonly kind: OutputKind; readonly type: string }[];
}

interface LoopStatus extends Pick<AdapterStatus, "form" | "state" | "dueInMs"> {
  readonly outcomes: readonly Outcome[];
}

/** What a controller of one loop does, from how it is with that loop. */
export function statusOf({ form, state, dueInMs, outcomes }: LoopStatus): AdapterStatus {
  const failed = outcomes.findLast(({ kind }) => kind === "failed");
  const lastFailure = failed && { message: failed.reason ?? "it gave no reason", atMs: failed.atMs };
  return { form, state, queueLength: 0, processing: state === "running" ? 1 : 0, dueInMs, lastFailure };
}
