import { SystemClock } from "../../clock/index.ts";
import { formatPointer, isTombstone, type Resource, type ResourceType } from "../../resource/index.ts";
import { EventType, type CoreState } from "../../state/index.ts";
import { messageOf } from "../../internal/foreign-value.ts";
import { withDeadline, type WaitOptions } from "./deadline.ts";
import { followKind } from "./watch-fold.ts";

/** How the resource assertions wait, and how they say that they still do. */
export interface AssertOptions extends WaitOptions {
  /** Called with what is unmet whenever `reportMs` have passed and it has changed since. Default: `console.warn`. */
  readonly report?: ((message: string) => void) | undefined;
  /** Unit: milliseconds. Default: 30,000. */
  readonly reportMs?: number | undefined;
}

/** A type whatever it takes to create a resource of it. */
type TypeOf<Spec> = ResourceType<Spec, string, never>;
/** Throws when the resource is not as it should be. */
export type Check<Spec> = (resource: Resource<Spec>) => void | Promise<void>;

/**
 * Waits until the resource exists and `check` does not throw, and resolves to it. Asked again on every change, never
 * by a timer.
 *
 * @throws an error that carries the last complaint when time is up; the error of a watch that fails.
 */
export async function assertResource<Spec>(
  state: CoreState,
  type: TypeOf<Spec>,
  id: string,
  check: Check<Spec> = () => undefined,
  options: AssertOptions = {},
): Promise<Resource<Spec>> {
  const pointer = type.ref(id);
  const unmet = new Unmet(formatPointer(pointer), options);
  return unmet.during(async (signal) => {
    await using watch = await state.watch(pointer, { signal });
    for await (const event of watch) {
      if (event.type === EventType.errored) throw event.error;
      const { resource } = event;
      if (event.type === EventType.destroyed || isTombstone(resource)) unmet.add(new Error("it does not exist"));
      else if (await unmet.accepts(() => check(type.cast(resource)))) return type.cast(resource);
    }
    signal.throwIfAborted();
    throw new Error("the watch ended");
  });
}

/** {@link assertResource} for several resources, which must all meet `check` at the same moment; in the order of `ids`. */
export async function assertResources<Spec>(
  state: CoreState,
  type: TypeOf<Spec>,
  ids: readonly string[],
  check: Check<Spec> = () => undefined,
  options: AssertOptions = {},
): Promise<readonly Resource<Spec>[]> {
  const unmet = new Unmet(`${type.type} in ${type.namespace}`, options);
  return unmet.follow(state, type, async (contents) => {
    const missing = ids.filter((id) => !contents.has(id));
    if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
    const found = ids.flatMap((id) => contents.get(id) ?? []).map((resource) => type.cast(resource));
    for (const resource of found) await check(resource);
    return found;
  });
}

/** {@link assertResources} for all that exist at the start. */
export async function assertAll<Spec>(
  state: CoreState,
  type: TypeOf<Spec>,
  check: Check<Spec>,
  options: AssertOptions = {},
): Promise<readonly Resource<Spec>[]> {
  return assertResources(state, type, await resourceIds(state, type), check, options);
}

/** Waits until there are exactly `length` resources of the type in its namespace. */
export async function assertLength(
  state: CoreState,
  type: TypeOf<unknown>,
  length: number,
  options: AssertOptions = {},
): Promise<void> {
  const unmet = new Unmet(`${type.type} in ${type.namespace}`, options);
  await unmet.follow(state, type, (contents) => {
    if (contents.size !== length) throw new Error(`there are ${contents.size}, not ${length}`);
    return true;
  });
}

/** Waits until the resource does not exist. */
export async function assertNoResource(
  state: CoreState,
  type: TypeOf<unknown>,
  id: string,
  options: AssertOptions = {},
): Promise<void> {
  const pointer = type.ref(id);
  const unmet = new Unmet(formatPointer(pointer), options);
  await unmet.during(async (signal) => {
    await using watch = await state.watch(pointer, { signal });
    for await (const event of watch) {
      if (event.type === EventType.errored) throw event.error;
      if (event.type === EventType.destroyed) return;
      const { phase, finalizers } = event.resource.metadata;
      unmet.add(
        new Error(
          `it exists, ${phase}, with ${finalizers.length === 0 ? "no finalizers" : `finalizers ${finalizers.join(", ")}`}`,
        ),
      );
    }
    signal.throwIfAborted();
    throw new Error("the watch ended");
  });
}

/** Ids of the resources of a type in its namespace, sorted. With an owner, only of those with exactly that owner. */
export async function resourceIds(
  state: CoreState,
  type: TypeOf<unknown>,
  options: { readonly owner?: string | undefined } = {},
): Promise<readonly string[]> {
  const list = await state.list(type);
  const { owner } = options;
  return list
    .filter(({ metadata }) => owner === undefined || metadata.owner === owner)
    .map(({ metadata }) => metadata.id);
}

const DEFAULT_REPORT_MS = 30_000;

/** What keeps an assertion from being met: told now and then, and in the end. */
class Unmet {
  readonly #subject: string;
  readonly #options: AssertOptions;
  #last: unknown = new Error("nothing was seen");
  #told: string | undefined;

  constructor(subject: string, options: AssertOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  add(error: unknown): void {
    this.#last = error;
  }

  /** True when `check` does not throw. */
  async accepts(check: () => void | Promise<void>): Promise<boolean> {
    try {
      await check();
      return true;
    } catch (error) {
      this.#last = error;
      return false;
    }
  }

  /** Waits until `check`, given the contents of a kind, does not throw; resolves to what it returned. */
  follow<T extends object | true>(
    state: CoreState,
    kind: { readonly namespace: string; readonly type: string },
    check: (contents: ReadonlyMap<string, Resource>) => T | Promise<T>,
  ): Promise<T> {
    return this.#reporting(() =>
      followKind(state, kind, this.#options, this.#failure, async (contents) => {
        try {
          return await check(contents);
        } catch (error) {
          this.#last = error;
          return undefined;
        }
      }),
    );
  }

  during<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#reporting(() => withDeadline(this.#options, this.#failure, run));
  }

  readonly #failure = (limit: string): Error =>
    new Error(`${this.#subject}: not met ${limit}: ${messageOf(this.#last)}`, { cause: this.#last });

  async #reporting<T>(run: () => Promise<T>): Promise<T> {
    const { clock = new SystemClock(), reportMs = DEFAULT_REPORT_MS, report = console.warn } = this.#options;
    const tell = () => {
      const message = `${this.#subject}: still waiting: ${messageOf(this.#last)}`;
      if (message !== this.#told) report(message);
      this.#told = message;
      timer = clock.schedule(reportMs, tell);
    };
    let timer = clock.schedule(reportMs, tell);
    try {
      return await run();
    } finally {
      timer.cancel();
    }
  }
}
