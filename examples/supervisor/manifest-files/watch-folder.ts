import { watch, type FSWatcher } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import type { Clock, Timer } from "homeostat";

import { isManifest } from "./read-folder.ts";

/** Quiet time after a change, so that an editor's several steps count as one. Unit: milliseconds. */
const SETTLE_MS = 50;
/** A folder that never gets quiet is looked at after this time all the same. Unit: milliseconds. */
const PATIENCE_MS = 300;
/** How often the folder is looked at anyway: not every file system tells of changes. Unit: milliseconds. */
const POLL_MS = 500;

/** Calls `onChange` soon after manifests in a folder changed. Disposing ends it. */
export function watchFolder(folder: string, clock: Clock, onChange: () => void): Disposable {
  let settling: Timer | undefined;
  let sinceMs: number | undefined;
  const note = () => {
    const nowMs = clock.monotonic();
    sinceMs ??= nowMs;
    settling?.cancel();
    settling = clock.schedule(Math.min(SETTLE_MS, sinceMs + PATIENCE_MS - nowMs), () => {
      sinceMs = undefined;
      onChange();
    });
  };
  const watcher = openWatcher(folder, note);

  let ended = false;
  let known: string | undefined;
  let next: Timer | undefined;
  const poll = async () => {
    const seen = await signature(folder);
    if (ended) return;
    // The first time too: what happened since the folder was read is not known.
    if (seen !== known) note();
    known = seen;
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

/** Differs when any manifest was changed, added or removed. */
async function signature(folder: string): Promise<string> {
  try {
    const names = (await readdir(folder)).filter(isManifest).sort();
    const parts = await Promise.all(
      names.map(async (name) => {
        const { mtimeMs, ctimeMs, size, ino } = await stat(join(folder, name));
        return `${name}:${mtimeMs}:${ctimeMs}:${size}:${ino}`;
      }),
    );
    return parts.join("\n");
  } catch (error) {
    // A file that went away between the two looks, or the whole folder: the next look will differ.
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}
