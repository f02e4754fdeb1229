import assert, { AssertionError } from "node:assert/strict";
import { SystemClock } from "../../../clock/index.ts";
import { silentLogger } from "../../../log/index.ts";
import type { Controller, QueueController } from "../../../controller/index.ts";
import {
  formatPointer,
  type AnyResourceType,
  type Ref,
  type Resource,
  type ResourceType,
} from "../../../resource/index.ts";
import { Runtime, type RuntimeOptions } from "../../../runtime/index.ts";
import { isCancellation } from "../../../internal/cancellation.ts";
import { wrapState, type CoreState, type State, type WatchCondition } from "../../../state/index.ts";
import { Int, Sentence, Str, type IntSpec, type TextSpec } from "../conformance-resources.ts";
import { withDeadline, type WaitOptions } from "../../assert/deadline.ts";
import { eventually } from "../../assert/eventually.ts";
import { InterceptedState } from "../../faults/intercepted-state.ts";

/** The settings of the engine that the suite is run with. */
export type RuntimeVariant = "defaults" | "rateLimited" | "cached";

const inEach = (type: AnyResourceType, ...namespaces: readonly string[]): readonly AnyResourceType[] =>
  namespaces.map((namespace) => type.in(namespace));

/** Some kinds are left out on purpose: `hooks`, `q-fail-in` and `q-fail-out` are read from the State. */
const CACHED_KINDS: readonly AnyResourceType[] = [
  ...inEach(Int, "default", "ints", "source", "source1", "source2", "target", "q-int", "metrics", "q-sleep-in"),
  ...inEach(Str, "default", "strings", "modify-with-result-source", "modify-with-result-target"),
  ...inEach(Str, "q-str", "metrics", "q-sleep-out"),
  ...inEach(Sentence, "sentences"),
];

/** The options under which the runtime's suite is run, by name. */
export const RUNTIME_VARIANTS: Readonly<Record<RuntimeVariant, RuntimeOptions>> = {
  defaults: {},
  rateLimited: { changeRateLimit: { perSecond: 10, burst: 20 } },
  cached: { cache: CACHED_KINDS, warnOnUncachedReads: true },
};

/** One thing that the engine does, and the steps that show it. */
export interface RuntimeScenario {
  /** A sentence about behaviour, unique in the suite, behind the tags of the specification's scenarios that it shows. */
  readonly name: string;
  readonly run: (world: RuntimeWorld) => Promise<void>;
}

type Values = Readonly<Record<string, number | string>>;
type ValueType = ResourceType<IntSpec, "test/int"> | ResourceType<TextSpec, "test/str" | "test/sentence">;

/** What a scenario works with: one empty State, and one engine on it that has not been started. */
export class RuntimeWorld {
  readonly state: State;
  readonly runtime: Runtime;
  readonly variant: RuntimeVariant;
  readonly #core: InterceptedState;
  readonly #stopper = new AbortController();
  readonly #waits: WaitOptions = { timeoutMs: 10_000 };
  #run: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(core: CoreState, variant: RuntimeVariant, options: RuntimeOptions = {}) {
    this.#core = new InterceptedState(core);
    this.state = wrapState(core);
    this.variant = variant;
    this.runtime = new Runtime(wrapState(this.#core), {
      logger: silentLogger,
      ...options,
      ...RUNTIME_VARIANTS[variant],
    });
  }

  async register(...controllers: readonly (Controller | QueueController)[]): Promise<void> {
    for (const controller of controllers) await this.runtime.register(controller);
  }

  /** Starts the engine. */
  start(): void {
    assert.equal(this.#run, undefined, "the engine was started already");
    const run = this.runtime.run({ signal: this.#stopper.signal });
    this.#run = run;
    run.catch((error: unknown) => {
      this.#failure = { error };
    });
  }

  /** Asks the engine to stop and waits until it has. It must not fail. */
  async stop(): Promise<void> {
    this.#stopper.abort();
    const run = this.#run ?? Promise.resolve();
    await this.within("the end of run()", run, 30_000).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
  }

  /** Stops the engine; then nothing of it may be left, and the State must still work. */
  async tearDown(): Promise<void> {
    await this.stop();
    const open = this.#core.openWatches.map(
      (call) => `${call.operation} ${call.target.type} in ${call.target.namespace}`,
    );
    assert.deepEqual(open, [], "watches that are still open when run() has settled");
    for (const type of inEach(Int, "default", "ints", "source", "source1", "source2")) await this.#createOther(type, 1);
    for (const type of inEach(Str, "strings", "default")) await this.#createOther(type, "xxx");
    await this.#createOther(Sentence.in("sentences"), "xxx");
  }

  /** One number of the engine's metrics. */
  metric(name: string, controller: string): number {
    return this.runtime.metrics.value(name, controller);
  }

  createInt(
    namespace: string,
    id: string,
    value: number,
    labels: Record<string, string> = {},
  ): Promise<Resource<IntSpec>> {
    return this.state.create(Int.in(namespace).create(id, { value }, { labels }));
  }

  createStr(namespace: string, id: string, value: string): Promise<Resource<TextSpec>> {
    return this.state.create(Str.in(namespace).create(id, { value }));
  }

  /** Waits until exactly these resources of the kind exist, with these values. */
  async values(type: ValueType, expected: Values, timeoutMs?: number): Promise<void> {
    await this.eventually(() => this.valuesNow(type, expected), timeoutMs);
  }

  /** Exactly these resources of the kind exist now, with these values. */
  async valuesNow(type: ValueType, expected: Values): Promise<void> {
    const values: Record<string, unknown> = {};
    for (const { metadata, spec } of await this.state.list(type)) {
      values[metadata.id] = (spec as IntSpec | TextSpec).value;
    }
    assert.deepEqual(values, expected, `${type.type} in ${type.namespace} holds ${JSON.stringify(values)}`);
  }

  /** Calls `fn` every 10 ms until it does not throw. Fails at once when the engine has failed. */
  async eventually<T>(fn: () => T | Promise<T>, timeoutMs = 10_000): Promise<T> {
    const failed = new AbortController();
    return eventually(
      () => {
        if (this.#failure !== undefined) {
          failed.abort(new AssertionError({ message: "run() failed", actual: this.#failure.error }));
        }
        return fn();
      },
      { timeoutMs, intervalMs: 10, signal: failed.signal },
    );
  }

  /** Waits until the resource exists without finalizers. */
  async finalizersEmpty(ref: Ref, timeoutMs = 10_000): Promise<void> {
    const condition: WatchCondition = { finalizersEmpty: true };
    const failure = (limit: string) => new Error(`${formatPointer(ref)} kept its finalizers: not empty ${limit}`);
    await withDeadline({ timeoutMs }, failure, (signal) => this.state.watchFor(ref, condition, { signal }));
  }

  within<T>(what: string, promise: Promise<T>, timeoutMs?: number): Promise<T> {
    return withDeadline(
      { ...this.#waits, ...(timeoutMs !== undefined && { timeoutMs }) },
      (limit) => new Error(`${what} did not come ${limit}`),
      () => promise,
    );
  }

  /** Real time passes: for what must not happen, and for controllers that really take their time. */
  async pause(ms: number): Promise<void> {
    await new SystemClock().sleep(ms);
  }

  async #createOther(type: AnyResourceType, value: unknown): Promise<void> {
    await this.state.create(type.create("xxx", { value } as never));
  }
}
