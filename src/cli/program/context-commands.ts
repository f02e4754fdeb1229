import type { Command } from "commander";
import type { EndpointFlags } from "../connect/endpoint.ts";
import type { CommonFlags } from "../connect/session.ts";
import { withColor, withEndpoint, type Choose } from "../args/flags.ts";

/** `context list`, `use`, `add`, `remove`. */
export function addContext(program: Command, choose: Choose): void {
  const context = program.command("context").description("names for endpoints").helpCommand(false);
  withColor(context.command("list").description("show the names, and which is the current one")).action(
    (flags: CommonFlags) =>
      choose(async (session) => {
        const { listContexts } = await import("../commands/shell/context.ts");
        return listContexts(session.plain(flags));
      }),
  );
  context
    .command("use")
    .description("make one the current: commands go there unless they are told otherwise")
    .argument("<name>")
    .action((name: string) =>
      choose(async (session) => {
        const { useContext } = await import("../commands/shell/context.ts");
        return useContext(session.plain({}), name);
      }),
    );
  const add = context
    .command("add")
    .description("keep an endpoint, and how to talk to it, under a name")
    .argument("<name>")
    .option("--use", "make it the current one")
    .option("--overwrite", "replace one of the same name");
  withEndpoint(add).action(
    (name: string, flags: CommonFlags & EndpointFlags & { use?: boolean; overwrite?: boolean }) =>
      choose(async (session) => {
        const command = await import("../commands/shell/context.ts");
        return command.addContext(session.plain(flags), name, flags);
      }),
  );
  context
    .command("remove")
    .description("forget a name")
    .argument("<name>")
    .action((name: string) =>
      choose(async (session) => {
        const { removeContext } = await import("../commands/shell/context.ts");
        return removeContext(session.plain({}), name);
      }),
    );
}
