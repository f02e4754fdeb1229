import { EventType, type Event, type Immutable, type ResourceType, type State } from "homeostat";

import { ConfigFileStatus, HealthStatus, ManifestStatus, ServiceStatus } from "../resources/index.ts";
import {
  describeConfigChange,
  describeHealthChange,
  describeManifestChange,
  describeServiceChange,
  type Happening,
} from "./describe-change.ts";
import type { StatusBoard } from "./status-board.ts";

/** Keeps the board up to date and tells of what happens, until the signal aborts. */
export async function followStatuses(
  state: State,
  board: StatusBoard,
  say: (happening: Happening) => void,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    await Promise.all([
      followType(state, ServiceStatus, signal, (name, before, now) => {
        board.setService(name, now);
        for (const one of describeServiceChange(name, before, now)) say(one);
        onChange();
      }),
      followType(state, ManifestStatus, signal, (file, before, now) => {
        board.setManifest(file, now);
        for (const one of describeManifestChange(file, before, now)) say(one);
        onChange();
      }),
      followType(state, ConfigFileStatus, signal, (name, before, now) => {
        for (const one of describeConfigChange(name, before, now)) say(one);
        onChange();
      }),
      followType(state, HealthStatus, signal, (name, before, now) => {
        for (const one of describeHealthChange(name, before, now)) say(one);
        onChange();
      }),
    ]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type OnChange<Spec> = (id: string, before: Immutable<Spec> | undefined, now: Immutable<Spec> | undefined) => void;

/** Calls `onChange` for each change of a type; what exists already counts as new. Ends by throwing when aborted. */
async function followType<Spec>(
  state: State,
  type: ResourceType<Spec, string, never>,
  signal: AbortSignal,
  onChange: OnChange<Spec>,
): Promise<void> {
  const known = new Map<string, Immutable<Spec>>();
  // After a resync, what has not come again by its end is gone.
  let missing: Set<string> | undefined;
  const set = (id: string, now: Immutable<Spec> | undefined) => {
    const before = known.get(id);
    missing?.delete(id);
    if (now === undefined) known.delete(id);
    else known.set(id, now);
    onChange(id, before, now);
  };
  const take = (event: Event<Spec>): void => {
    switch (event.type) {
      case EventType.created:
      case EventType.updated:
        return set(event.resource.metadata.id, event.resource.spec);
      case EventType.destroyed:
        return set(event.resource.metadata.id, undefined);
      case EventType.resynced:
        missing = new Set(known.keys());
        return;
      case EventType.bootstrapped:
        for (const id of missing ?? []) set(id, undefined);
        missing = undefined;
        return;
      case EventType.errored:
        throw event.error;
      case EventType.noop:
    }
  };
  await using watch = await state.watchKind(type, { bootstrap: true, signal });
  for await (const event of watch) take(event);
}
