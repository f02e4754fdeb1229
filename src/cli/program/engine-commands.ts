import { Option, type Command } from "commander";
import {
  ID_HELP,
  withEndpoint,
  withNamespace,
  withSelection,
  type Choose,
  type Flags,
  type SelectionFlags,
} from "../args/flags.ts";

export function addExplain(program: Command, choose: Choose): void {
  const command = program
    .command("explain")
    .description("show why resources are not (yet) as they should be")
    .argument("<type>", "type, by any of its names, or TYPE/ID")
    .argument("[id...]", ID_HELP)
    .option("--all", "all resources of the type")
    .addOption(new Option("-o, --output <format>", "how").choices(["text", "json"]).default("text"));
  withEndpoint(withSelection(command)).action(
    (
      type: string,
      ids: readonly string[],
      flags: Flags & SelectionFlags & { all?: boolean; output: "text" | "json" },
    ) =>
      choose(async (session) => {
        const { explain } = await import("../commands/engine/explain.ts");
        return session.write(flags, (context) => explain(context, { ...flags, names: [type, ...ids] }));
      }),
  );
}

export function addGraph(program: Command, choose: Choose): void {
  const command = program
    .command("graph")
    .description("show which controllers read and write what")
    .option("-o, --output <format>", "text, json, dot, mermaid or svg", "text");
  withEndpoint(command).action((flags: Flags & { output: string }) =>
    choose(async (session) => {
      const { graph } = await import("../commands/engine/graph.ts");
      return session.write(flags, (context) => graph(context, flags));
    }),
  );
}

export function addFinalizer(program: Command, choose: Choose): void {
  const finalizer = program.command("finalizer").description("take care of finalizers by hand");
  const command = finalizer
    .command("release")
    .description("take a finalizer off a resource whose controller is gone for good")
    .argument("<type>", "type, by any of its names")
    .argument("<id>", "id of the resource")
    .argument("<finalizer>", "its name, as describe and explain show it")
    .requiredOption("--reason <text>", "why; it is noted on the resource");
  withEndpoint(withNamespace(command)).action(
    (type: string, id: string, name: string, flags: Flags & SelectionFlags & { reason: string }) =>
      choose(async (session) => {
        const { releaseFinalizer } = await import("../commands/engine/release-finalizer.ts");
        const { namespace, reason } = flags;
        const options = { type, id, finalizer: name, reason, namespace };
        return session.write(flags, (context) => releaseFinalizer(context, options));
      }),
  );
}
