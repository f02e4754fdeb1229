import type { Clock } from "../clock/index.ts";
import type { State } from "../state/index.ts";
import type { Output } from "./output.ts";

/** All that a command knows of the world; nothing else of the process is touched. */
export interface CommandContext {
  /** Results, and nothing else. */
  readonly stdout: Output;
  /** Everything that is no result: errors, notes, progress. */
  readonly stderr: Output;
  readonly readStdin: () => Promise<string>;
  /** Until it is disposed, Ctrl-C is for another program, such as an editor, and not for this one. */
  readonly holdInterrupts: () => Disposable;
  /** True when a person can be asked. */
  readonly isInteractive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that paths are relative to. */
  readonly cwd: string;
  readonly color: boolean;
  readonly clock: Clock;
  /** Aborts when the command should end. */
  readonly signal: AbortSignal;
}

/** A State to ask, with the name under which its answers are shown when there are several. */
export interface Target {
  readonly node: string | undefined;
  readonly state: State;
}

/** For commands that read, from one State or several. */
export interface ReadContext extends CommandContext {
  readonly targets: readonly Target[];
}

/** For commands that write, always to one State. */
export interface WriteContext extends CommandContext {
  readonly state: State;
}
