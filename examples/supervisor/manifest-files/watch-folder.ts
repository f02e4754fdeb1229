import { watch, type FSWatcher } from "node:fs";

import type { Clock } from "homeostat";
import type { Timer } from "homeostat/clock";

import { isManifest, type FolderReader } from "./folder-reader.ts";

/** Quiet time after a change, so that an editor's several steps count as one. Unit: milliseconds. */
const SETTLE_MS = 50;
/** A folder that never gets quiet is looked at after this time all the same. Unit: milliseconds. */
const MAX_SETTLE_MS = 300;
/** How often the folder is looked at anyway: not every file system reports changes. Unit: milliseconds. */
const POLL_MS = 500;

/** Calls `onChange` soon after manifests in a folder changed, or another folder took its place. Disposing ends it. */
export function watchFolder(reader: FolderReader, clock: Clock, onChange: () => void): Disposable {
  let settling: Timer | undefined;
  let sinceMs: number | undefined;
  const note = () => {
    const nowMs = clock.monotonic();
    sinceMs ??= nowMs;
    settling?.cancel();
    settling = clock.schedule(Math.min(SETTLE_MS, sinceMs + MAX_SETTLE_MS - nowMs), () => {
      sinceMs = undefined;
      onChange();
    });
  };

  let ended = false;
  let known: string | undefined;
  let watched: string | undefined;
  let watcher: FSWatcher | undefined;
  let next: Timer | undefined;
  const poll = async () => {
    const { identity, content } = await reader.signature();
    if (ended) return;
    // A watcher stays with the folder that it was opened for, wherever that is now.
    if (identity !== watched) {
      watcher?.close();
      watcher = identity === "" ? undefined : openWatcher(reader.folder, note);
      watched = identity;
    }
    // The first time too: what happened since the folder was read is not known.
    if (`${identity}\n${content}` !== known) note();
    known = `${identity}\n${content}`;
    next = clock.schedule(POLL_MS, () => void poll());
  };
  void poll();

  return {
    [Symbol.dispose]() {
      ended = true;
      watcher?.close();
      settling?.cancel();
      next?.cancel();
    },
  };
}

/** Undefined when the system offers none, or no more; the poll does it then. */
function openWatcher(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_, file) => {
      if (file === null || isManifest(file)) onEvent();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
