import { expect, test } from "vitest";
import { MemoryNamespace } from "../../../memory/index.ts";
import {
  createResource,
  isTombstone,
  patchMetadata,
  StateError,
  type Metadata,
  type Pointer,
  type Resource,
} from "../../../resource/index.ts";
import {
  compileQuery,
  sealResourceList,
  type CoreState,
  type Event,
  type Query,
  type Watch,
} from "../../../state/index.ts";
import { stateConformance } from "./state-conformance.ts";

// A suite that cannot fail proves nothing: each of these States breaks one promise, and must be found out.

type Mutation = (core: MemoryNamespace) => Partial<CoreState>;

/** `watch` with its events changed on the way: dropped where `change` gives undefined. */
function changing(watch: Watch, change: (event: Event) => Event | undefined): Watch {
  return {
    async next(): Promise<IteratorResult<Event, undefined>> {
      for (;;) {
        const result = await watch.next();
        if (result.done === true) return { done: true, value: undefined };
        const value = change(result.value);
        if (value !== undefined) return { done: false, value };
      }
    },
    return: async () => (await watch[Symbol.asyncDispose](), { done: true, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

const changingKind =
  (change: (event: Event) => Event | undefined): Mutation =>
  (core) => ({ watchKind: async (kind, options) => changing(await core.watchKind(kind, options), change) });

const without = <K extends "old" | "bookmark">(event: Event, part: K): Event => {
  const { type, resource, old, error, bookmark, revision } = event;
  // The part is left out on purpose; the rest is the event's.
  return { type, resource, old, error, bookmark, revision, [part]: undefined } as unknown as Event;
};

const withoutSignal = <T extends object>(options: T | undefined): T =>
  ({ ...options, signal: undefined }) as T & { signal: undefined };

/** The present metadata at an address, as what a write came with: whatever life was meant. */
const atAddress = async (core: MemoryNamespace, pointer: Pointer): Promise<Pointer> => {
  const { namespace, type, id } = pointer;
  return (await core.getOrNull({ namespace, type, id }))?.metadata ?? { namespace, type, id };
};

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "updates another life of the same version": (core) => ({
    update: async (resource, options) => {
      const { created } = (await atAddress(core, resource.metadata)) as Metadata;
      return core.update(patchMetadata(resource, { created }), options);
    },
  }),
  "destroys another life than the one that is named": (core) => ({
    destroy: async (pointer, options) => core.destroy(await atAddress(core, pointer), options),
  }),
  "gives times of creation in whole seconds": (core) => {
    const coarse = (resource: Resource): Resource =>
      patchMetadata(resource, { created: resource.metadata.created.replace(/\.\d+/, "") });
    return {
      create: async (resource, options) => coarse(await core.create(resource, options)),
      get: async (pointer, options) => coarse(await core.get(pointer, options)),
    };
  },
  "lists in the order of creation": (core) => ({
    list: async (kind, options) => {
      const list = await core.list(kind, options);
      const created = list.toSorted(
        (a, b) => b.metadata.id.length - a.metadata.id.length || (a.metadata.id < b.metadata.id ? -1 : 1),
      );
      return sealResourceList(created, list.revision);
    },
  }),
  "sorts by UTF-16 units": (core) => ({
    list: async (kind, options) => {
      const list = await core.list(kind, options);
      return sealResourceList(
        list.toSorted((a, b) => (a.metadata.id < b.metadata.id ? -1 : 1)),
        list.revision,
      );
    },
  }),
  "refuses unknown kinds": (core) => ({
    list: async (kind, options) => {
      const list = await core.list(kind, options);
      if (list.revision === 0) throw new StateError("not_found", "no such kind");
      return list;
    },
  }),
  "hands out what can be written to": (core) => ({
    get: async (pointer, options) => structuredClone({ ...(await core.get(pointer, options)) }),
  }),
  "replaces what exists on create": (core) => ({
    create: async (resource, options) => {
      await core.destroy(resource.metadata, { owner: options?.owner }).catch(() => undefined);
      return core.create(resource, options);
    },
  }),
  "keeps the version that was offered": (core) => ({
    create: async (resource, options) => {
      const stored = await core.create(resource, options);
      return resource.metadata.version === "undefined"
        ? stored
        : core.update(stored, { owner: options?.owner, expectedPhase: "any" });
    },
  }),
  "drops what is stored to a foreign owner": (core) => ({
    create: (resource, options) =>
      core.create(createResource({ ...resource.metadata, owner: undefined }, resource.spec), options),
  }),
  "lets the last writer win": (core) => ({
    update: async (resource, options) => {
      const { version } = (await core.get(resource.metadata)).metadata;
      return core.update(patchMetadata(resource, { version }), options);
    },
  }),
  "looks at no owner on update": (core) => ({
    update: async (resource, options) =>
      core.update(resource, { ...options, owner: (await core.get(resource.metadata)).metadata.owner }),
  }),
  "looks at no phase on update": (core) => ({
    update: (resource, options) => core.update(resource, { ...options, expectedPhase: "any" }),
  }),
  "skips updates that change nothing": (core) => ({
    update: async (resource, options) => {
      const stored = await core.get(resource.metadata);
      const same = JSON.stringify(stored) === JSON.stringify(resource);
      return same ? stored : core.update(resource, options);
    },
  }),
  "looks at no owner on destroy": (core) => ({
    destroy: async (pointer) => core.destroy(pointer, { owner: (await core.get(pointer)).metadata.owner }),
  }),
  "destroys in spite of finalizers": (core) => ({
    destroy: async (pointer, options) => {
      const stored: Resource = await core.get(pointer);
      const { owner, finalizers } = stored.metadata;
      if (finalizers.length > 0 && (options?.owner ?? "") === owner) {
        await core.update(patchMetadata(stored, { finalizers: [] }), { owner, expectedPhase: "any" });
      }
      return core.destroy(pointer, options);
    },
  }),
  "destroys what is not there": (core) => ({
    destroy: (pointer, options) =>
      core.destroy(pointer, options).catch((error: unknown) => {
        if (!(error instanceof StateError) || error.code !== "not_found") throw error;
      }),
  }),
  "registers a watch when it is first read": (core) => ({
    watchKind: async (kind, options) => {
      let opened: Promise<Watch> | undefined;
      const open = () => (opened ??= core.watchKind(kind, options));
      return changing(
        {
          next: async () => (await open()).next(),
          [Symbol.asyncIterator]() {
            return this;
          },
          [Symbol.asyncDispose]: async () => (await open())[Symbol.asyncDispose](),
        },
        (event) => event,
      );
    },
  }),
  "forgets to say that the first contents are complete": changingKind((event) =>
    event.type === "Bootstrapped" ? undefined : event,
  ),
  "leaves out the content before": changingKind((event) => without(event, "old")),
  "gives the watch of one resource no position to begin with": (core) => ({
    watch: async (pointer, options) => {
      let first = true;
      return changing(await core.watch(pointer, options), (event) => {
        const seen = first ? without(event, "bookmark") : event;
        first = false;
        return seen;
      });
    },
  }),
  "ignores bootstrapBookmark in the watch of one resource": (core) => ({
    watch: (pointer, options) => core.watch(pointer, { ...options, bootstrapBookmark: false }),
  }),
  "leaves out bookmarks": changingKind((event) => without(event, "bookmark")),
  "tells nothing of destroyed resources": changingKind((event) => (event.type === "Destroyed" ? undefined : event)),
  "filters events without looking at the content before": (core) => ({
    watchKind: async (kind, options = {}) => {
      const { labels, ids, ...rest } = options;
      const query: Query = { labels, ids };
      const compiled = await compileQuery(query);
      return changing(await core.watchKind(kind, rest), (event) =>
        compiled === undefined ||
        event.type === "Bootstrapped" ||
        event.type === "Noop" ||
        event.resource === undefined ||
        compiled.matches(event.resource)
          ? event
          : undefined,
      );
    },
  }),
  "takes several queries as one": (core) => ({
    list: (kind, options) => core.list(kind, { ...options, labels: options?.labels?.flat() }),
  }),
  "matches whole ids only": (core) => ({
    list: (kind, options) => core.list(kind, { ...options, ids: options?.ids && `^(?:${options.ids})$` }),
  }),
  "ignores signals of calls": (core) => ({
    create: (resource, options) => core.create(resource, withoutSignal(options)),
  }),
  "ignores signals of watches": (core) => ({
    watchKindBatches: async (kind, options) => {
      options?.signal?.throwIfAborted();
      return core.watchKindBatches(kind, withoutSignal(options));
    },
  }),
  "accepts contradictory options": (core) => ({
    watchKind: (kind, options) =>
      core.watchKind(
        kind,
        options?.bootstrap === true ? { ...options, tailEvents: undefined, startFromBookmark: undefined } : options,
      ),
  }),
  "takes any bytes for a bookmark": (core) => ({
    watch: (pointer, options) =>
      core.watch(pointer, {
        ...options,
        startFromBookmark: options?.startFromBookmark?.length === 0 ? undefined : options?.startFromBookmark,
      }),
  }),
  "starts the watch of a missing resource without a word": (core) => ({
    watch: async (pointer, options) => {
      let first = true;
      return changing(await core.watch(pointer, options), (event) => {
        const skipped = first && event.type === "Destroyed" && isTombstone(event.resource);
        first = false;
        return skipped ? undefined : event;
      });
    },
  }),
  "stamps a new time of creation on every write": (core) => ({
    update: async (resource, options) =>
      patchMetadata(await core.update(resource, options), { created: "2001-01-01T00:00:00Z" }),
    get: async (pointer, options) =>
      patchMetadata(await core.get(pointer, options), { created: "2001-01-01T00:00:00Z" }),
  }),
};

/** The first scenario that the States do not pass. */
async function firstFailure(newState: () => CoreState, waitMs: number): Promise<string | undefined> {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  stateConformance({ test: (name, fn) => tests.push([name, fn]) }, { newState, waitMs });
  for (const [name, fn] of tests) {
    try {
      await fn();
    } catch {
      return name;
    }
  }
  return undefined;
}

function mutant(mutation: Mutation): CoreState {
  const core = new MemoryNamespace("default");
  const changes = mutation(core);
  return new Proxy<CoreState>(core, {
    get(target, key) {
      const value: unknown = Reflect.get(changes, key) ?? Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a State that breaks no promise passes the suite", async () => {
  expect(await firstFailure(() => mutant(() => ({})), 4_000)).toBeUndefined();
});

test.each(Object.entries(MUTATIONS))("the suite finds out a State that %s", async (_, mutation) => {
  expect(await firstFailure(() => mutant(mutation), 100)).toBeDefined();
});
