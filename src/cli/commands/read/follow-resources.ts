import { onOneLine } from "../../../internal/visible-text.ts";
import { EventType, Reflector, type ReflectedChange } from "../../../state/index.ts";
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
  const reflector = new Reflector();
  await using watch = await state.watchKindBatches(kindIn(kind, namespace), { bootstrap: true, labels, signal });
  for await (const batch of watch) {
    const changes: ShownEvent[] = [];
    for (const event of batch) {
      changes.push(...shown(followed, reflector.take(event)));
      if (event.type === EventType.resynced) {
        await screen.events(changes.splice(0));
        await screen.note("the watch could not go on where it was; the contents are read again");
        await screen.marker(node, "resynced");
      } else if (event.type === EventType.bootstrapped) {
        if (reflector.contents.size === 0) {
          await screen.note(`no ${kind.displayType} in namespace ${namespace} yet; waiting`);
        }
        await screen.events(changes.splice(0));
        await screen.marker(node, "bootstrapped");
      }
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
  const reflector = new Reflector({ single: true });
  await using watch = await state.watch(pointerIn(kind, namespace, id), { signal });
  for await (const event of watch) {
    const isFirst = !reflector.complete;
    const changes = shown(followed, reflector.take(event));
    if (event.type === EventType.resynced) {
      await screen.note("the watch could not go on where it was; the resource is read again");
      await screen.marker(node, "resynced");
    } else if (isFirst && reflector.contents.size === 0) {
      await screen.note(`${kind.displayType} ${id} does not exist in namespace ${namespace} yet; waiting`);
    }
    await screen.events(changes);
  }
}

/** Changes as printers take them. */
function shown({ node, kind }: Followed, changes: readonly ReflectedChange[]): ShownEvent[] {
  return changes.map(({ type, resource }) => ({ node, kind, resource, event: type }));
}
