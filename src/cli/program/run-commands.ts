import type { Command } from "commander";
import { collect, withColor, withEndpoint, type Choose, type Flags } from "../args/flags.ts";
import type { CommonFlags } from "../connect/session.ts";
import type { ServingOptions } from "../commands/serve/serving-options.ts";
import { STATE_HELP } from "../args/state-help.ts";

interface LogFlags {
  readonly logLevel: string;
  readonly logFormat: string;
}

function withLog(command: Command): Command {
  return command
    .option("--log-level <level>", "debug, info, warn or error", "info")
    .option("--log-format <format>", "text for people, or json, an object a line", "text");
}

function withServing(command: Command): Command {
  return command
    .option("--cert <file>", "certificate to show to clients; with --key, connections use TLS")
    .option("--key <file>", "its private key")
    .option("--client-ca <file>", "let only clients in that show a certificate of one of these")
    .option("--token-file <file>", "let only clients in that bring one of these bearer tokens, one a line")
    .option("--allow-insecure", "listen without TLS where other machines can connect")
    .option("--reflection", "tell tools such as grpcurl what the services are");
}

export function addRun(program: Command, choose: Choose): void {
  const command = program
    .command("run")
    .description("run the control plane of a configuration, until Ctrl-C")
    .argument("[config]", "file that exports a control plane", "homeostat.config.ts")
    .option("--listen <address>", "serve at unix:PATH or tcp:HOST:PORT; may be repeated", collect)
    .option("--state <name>", `where the State lives, in place of what the configuration says: ${STATE_HELP}`)
    .option("--http <address>", "show metrics and health at HOST:PORT, or at PORT of the loopback; needs prom-client")
    .option("--stop-timeout <time>", "time for everything to stop", "15s");
  withColor(withLog(withServing(command))).action(
    (
      config: string,
      flags: CommonFlags &
        ServingOptions &
        LogFlags & { listen?: readonly string[]; state?: string; http?: string; stopTimeout: string },
    ) =>
      choose(async (session) => {
        const { run } = await import("../commands/serve/run.ts");
        return run(session.plain(flags), { ...flags, config, defaultListen: () => session.makeDefaultListen() });
      }),
  );
}

export function addServe(program: Command, choose: Choose): void {
  const command = program
    .command("serve")
    .description("serve a State, until Ctrl-C")
    .requiredOption("--state <name>", `what to serve: ${STATE_HELP}`)
    .requiredOption("--listen <address>", "unix:PATH or tcp:HOST:PORT; may be repeated", collect);
  withColor(withLog(withServing(command))).action(
    (flags: CommonFlags & ServingOptions & LogFlags & { state: string; listen: readonly string[] }) =>
      choose(async (session) => {
        const { serve } = await import("../commands/serve/serve.ts");
        return serve(session.plain(flags), flags);
      }),
  );
}

export function addCompletion(program: Command, choose: Choose): void {
  program
    .command("completion")
    .description("print a script that completes commands, types and ids")
    .argument("<shell>", "bash, zsh or fish")
    .action((shell: string) =>
      choose(async (session) => {
        const { completion } = await import("../commands/shell/completion.ts");
        return completion(session.plain({}), shell);
      }),
    );
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .helpOption(false)
    .action((words: readonly string[]) =>
      choose(async (session) => {
        const { complete } = await import("../commands/shell/complete.ts");
        return complete(session, program, words);
      }),
    );
}

export function addVersion(program: Command, choose: Choose): void {
  const command = program
    .command("version")
    .description("show the version of this program, and of the server")
    .option("--client", "ask no server")
    .option("-o, --output <format>", "text or json", "text");
  withEndpoint(command).action((flags: Flags & { client?: boolean; output: string }) =>
    choose(async (session) => {
      const { version } = await import("../commands/shell/version.ts");
      return version(session, flags);
    }),
  );
}
