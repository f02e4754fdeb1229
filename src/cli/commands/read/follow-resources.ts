import { onOneLine } from "../../../internal/visible-text.ts";
import { isTombstone, type Resource } from "../../../resource/index.ts";
import { EventType, type Event } from "../../../state/index.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandContext, Target } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import type { Printer, ShownEvent } from "../../print/printer.ts";
import { kindIn, pointerIn, type Selected } from "../../args/selection.ts";

type Followed = Target & Selected;

/**
 * Shows the present contents, then every change, until the signal aborts: then it rejects with the signal's reason.
 *
 * The first contents come together. When a watch could not go on, a note on standard error says so, and what changed
 * meanwhile is shown as if it had been seen.
 *
 * @throws whatever ended a watch.
 */
export async function followResources(
  followed: readonly Followed[],
  printer: Printer,
  { stderr, signal }: Pick<CommandContext, "stderr" | "signal">,
): Promise<void> {
  const stop = new AbortController();
  const ends = AbortSignal.any([signal, stop.signal]);
  const screen = new Screen(printer, (note) => stderr.write(`homeostat: ${onOneLine(note)}\n`));
  const watches = followed.flatMap((one) =>
    one.namespaces.flatMap((namespace) =>
      one.ids.length === 0
        ? [followKind(one, namespace, screen, ends)]
        : one.ids.map((id) => followOne(one, namespace, id, screen, ends)),
    ),
  );
  try {
    await Promise.all(watches);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(watches);
    throw error;
  }
  signal.throwIfAborted();
  throw new CliError(ExitCode.unavailable, "the watch ended");
}

/** Several watches share one output: what belongs together is written together. */
class Screen {
  readonly #printer: Printer;
  readonly #note: (text: string) => Promise<void>;
  #last: Promise<void> = Promise.resolve();

  constructor(printer: Printer, note: (text: string) => Promise<void>) {
    this.#printer = printer;
    this.#note = note;
  }

  events(events: readonly ShownEvent[]): Promise<void> {
    return events.length === 0 ? this.#last : this.#then(() => this.#printer.events(events));
  }

  marker(node: string | undefined, event: "bootstrapped" | "resynced"): Promise<void> {
    return this.#then(() => this.#printer.marker({ node, event }));
  }

  note(text: string): Promise<void> {
    return this.#then(() => this.#note(text));
  }

  #then(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }
}

async function followKind(followed: Followed, namespace: string, screen: Screen, signal: AbortSignal): Promise<void> {
  const { state, kind, labels, node } = followed;
  const contents = new Contents(followed);
  await using watch = await state.watchKindBatches(kindIn(kind, namespace), { bootstrap: true, labels, signal });
  for await (const batch of watch) {
    const changes: ShownEvent[] = [];
    for (const event of batch) {
      if (event.type === EventType.errored) throw event.error;
      if (event.type === EventType.resynced) {
        await screen.events(changes.splice(0));
        contents.startAgain();
        await screen.note("the watch could not go on where it was; the contents are read again");
        await screen.marker(node, "resynced");
      } else if (event.type === EventType.bootstrapped) {
        changes.push(...contents.complete());
        if (contents.isEmpty) await screen.note(`no ${kind.displayType} in namespace ${namespace} yet; waiting`);
        await screen.events(changes.splice(0));
        await screen.marker(node, "bootstrapped");
      } else changes.push(...contents.take(event));
    }
    await screen.events(changes);
  }
}

async function followOne(
  followed: Followed,
  namespace: string,
  id: string,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const { state, kind, node } = followed;
  const contents = new Contents(followed);
  let isFirst = true;
  await using watch = await state.watch(pointerIn(kind, namespace, id), { signal });
  for await (const event of watch) {
    if (event.type === EventType.errored) throw event.error;
    if (event.type === EventType.resynced) {
      contents.startAgain();
      isFirst = true;
      await screen.note("the watch could not go on where it was; the resource is read again");
      await screen.marker(node, "resynced");
      continue;
    }
    const changes = contents.take(event);
    if (isFirst) {
      isFirst = false;
      changes.push(...contents.complete());
      if (contents.isEmpty)
        await screen.note(`${kind.displayType} ${id} does not exist in namespace ${namespace} yet; waiting`);
    }
    await screen.events(changes);
  }
}

/** What the user knows of one watch: nothing is shown twice after a resync, and nothing is left out. */
class Contents {
  readonly #followed: Followed;
  #known = new Map<string, Resource>();
  /** What was known before the contents were read again; undefined when they are complete. */
  #before: Map<string, Resource> | undefined = new Map();

  constructor(followed: Followed) {
    this.#followed = followed;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  startAgain(): void {
    // Contents that were never completed were never shown: what was known before them still counts.
    this.#before ??= this.#known;
    this.#known = new Map();
  }

  /** The changes to show now; those of contents that are incomplete wait for {@link complete}. */
  take(event: Event): ShownEvent[] {
    if (event.type === EventType.errored) return [];
    const { id } = event.resource.metadata;
    switch (event.type) {
      case EventType.created:
      case EventType.updated: {
        this.#known.set(id, event.resource);
        return this.#before === undefined ? [this.#shown(wordFor(event.type), event.resource)] : [];
      }
      case EventType.destroyed: {
        const last = isTombstone(event.resource) ? this.#known.get(id) : event.resource;
        this.#known.delete(id);
        return this.#before !== undefined || last === undefined ? [] : [this.#shown("destroyed", last)];
      }
      case EventType.bootstrapped:
      case EventType.noop:
      case EventType.resynced:
        return [];
    }
  }

  /** The contents are complete: what they differ in from what was known before. */
  complete(): readonly ShownEvent[] {
    const before = this.#before ?? new Map<string, Resource>();
    this.#before = undefined;
    const changes: ShownEvent[] = [];
    for (const [id, last] of before) {
      if (!this.#known.has(id)) changes.push(this.#shown("destroyed", last));
    }
    for (const [id, resource] of this.#known) {
      const last = before.get(id);
      if (last === undefined) changes.push(this.#shown("created", resource));
      else if (!isSameVersion(last, resource)) changes.push(this.#shown("updated", resource));
    }
    return changes;
  }

  #shown(event: ShownEvent["event"], resource: Resource): ShownEvent {
    const { node, kind } = this.#followed;
    return { node, kind, resource, event };
  }
}

const wordFor = (type: "Created" | "Updated"): "created" | "updated" =>
  type === EventType.created ? "created" : "updated";

const isSameVersion = (a: Resource, b: Resource): boolean =>
  a.metadata.version === b.metadata.version && a.metadata.created === b.metadata.created;
