import type { Host } from "./host.ts";
import type { State } from "../state/index.ts";

/** Of the process around the command line, what a command may touch. */
type HostParts = Pick<
  Host,
  "stdout" | "stderr" | "readStdin" | "holdInterrupts" | "isInteractive" | "env" | "cwd" | "clock"
>;

/** All that a command knows of the world; nothing else of the process is touched. */
export interface CommandContext extends HostParts {
  readonly color: boolean;
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
