import { resolve } from "node:path";
import { MemoryState } from "../../../memory/index.ts";
import { NamespaceType, ResourceDefinitionType, type AnyResourceType } from "../../../resource/index.ts";
import type { State } from "../../../state/index.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";

/** Events kept of each kind: watchers across a wire, and those that come back after a break, need a longer memory. */
const HISTORY_EVENTS = 10_000;

type Open = (location: string, types: readonly AnyResourceType[], context: CommandContext) => Promise<State>;

const history = { maxCapacity: HISTORY_EVENTS };

/** What `--state` can name. */
const STATES: ReadonlyMap<string, Open> = new Map<string, Open>([
  [
    "memory",
    async (location, types) => {
      if (location !== "") throw usageError(`the state memory takes nothing after its name, got ${location}`);
      return new MemoryState({ history, types });
    },
  ],
  [
    "sqlite",
    async (location, types, { cwd }) => {
      if (location === "") throw usageError("the state sqlite needs the path of its file: sqlite:data.db");
      const { sqlite } = await import("../../../sqlite/index.ts");
      return sqlite(resolve(cwd, location), { history, types: [ResourceDefinitionType, NamespaceType, ...types] });
    },
  ],
]);

/** Opens what `--state` names. @throws {CliError} usage @throws {StateError} when it cannot be opened. */
export function openNamedState(
  name: string,
  types: readonly AnyResourceType[],
  context: CommandContext,
): Promise<State> {
  const [, scheme = "", location = ""] = /^([a-z][a-z0-9+-]*)(?::(?:\/\/)?(.*))?$/.exec(name) ?? [];
  const open = STATES.get(scheme);
  if (open !== undefined) return open(location, types, context);
  throw usageError(`there is no state called ${JSON.stringify(name)}; there is ${[...STATES.keys()].join(", ")}`);
}
