import { onOneLine } from "../../../internal/visible-text.ts";
import { resolve } from "node:path";
import { CliError, usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { contextNamed, readContexts, writeContexts, type NamedContext } from "../../connect/contexts.ts";
import { absoluteAddress, type EndpointFlags } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { TableWriter } from "../../print/table-writer.ts";

/** Shows the contexts, and which of them is the current one. */
export async function listContexts(context: CommandContext): Promise<ExitCode> {
  const { current, contexts } = await readContexts(context);
  const names = Object.keys(contexts).toSorted();
  if (names.length === 0)
    await context.stderr.write("homeostat: there are no contexts; homeostat context add makes one\n");
  const table = new TableWriter(["CURRENT", "NAME", "ENDPOINT", "NODE", "TLS"]);
  const rows = names.map((name) => {
    const { endpoint, node = [], ...rest } = contextNamed({ contexts }, name);
    const isTls = rest.tls === true || [rest.ca, rest.cert, rest.serverName].some((value) => value !== undefined);
    return [name === current ? "*" : "", name, endpoint, node.join(","), isTls ? "yes" : "no"].map(onOneLine);
  });
  await context.stdout.write(table.write(rows));
  return ExitCode.ok;
}

/** Makes a context the current one. */
export async function useContext(context: CommandContext, name: string): Promise<ExitCode> {
  const all = await readContexts(context);
  contextNamed(all, name);
  await writeContexts(context, { ...all, current: name });
  await context.stdout.write(`${onOneLine(name)} is the current context\n`);
  return ExitCode.ok;
}

export interface AddContextOptions extends EndpointFlags {
  /** Make it the current one. Default: false. */
  readonly use?: boolean | undefined;
  /** Replace one of the same name. Default: false. */
  readonly overwrite?: boolean | undefined;
}

/** Keeps an endpoint, and how to talk to it, under a name. */
export async function addContext(context: CommandContext, name: string, options: AddContextOptions): Promise<ExitCode> {
  if (!/^[\w.@-]+$/.test(name)) {
    throw usageError(`the name of a context consists of letters, digits and . _ @ -, got ${JSON.stringify(name)}`);
  }
  if (options.token !== undefined) throw usageError("a token is not kept in a context; --token-file names its file");
  if (options.context !== undefined || options.timeout !== undefined) {
    throw usageError(`a context has no ${options.context === undefined ? "--timeout" : "--context"}`);
  }
  if (options.endpoint === undefined) throw usageError("--endpoint is missing: unix:PATH or tcp:HOST:PORT");
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw usageError("--cert and --key belong together");
  }
  const all = await readContexts(context);
  if (Object.hasOwn(all.contexts, name) && options.overwrite !== true) {
    throw new CliError(ExitCode.conflict, `there is a context called ${name} already; --overwrite replaces it`);
  }
  const current = options.use === true ? name : all.current;
  const added = kept(options, options.endpoint, context);
  await writeContexts(context, { current, contexts: { ...all.contexts, [name]: added } });
  await context.stdout.write(`${name} added${options.use === true ? ", and is the current context" : ""}\n`);
  return ExitCode.ok;
}

/** What is kept of the flags: files by their full path, since commands run anywhere. */
function kept(options: AddContextOptions, endpoint: string, context: CommandContext): NamedContext {
  const file = (name: string | undefined): string | undefined => name && resolve(context.cwd, name);
  const { node, tls, serverName } = options;
  const fields: NamedContext = {
    endpoint: absoluteAddress(endpoint, context),
    node,
    tls,
    ca: file(options.ca),
    cert: file(options.cert),
    key: file(options.key),
    serverName,
    tokenFile: file(options.tokenFile),
  };
  return fields;
}

/** Forgets a context; the current one may be among them. */
export async function removeContext(context: CommandContext, name: string): Promise<ExitCode> {
  const all = await readContexts(context);
  contextNamed(all, name);
  const contexts = Object.fromEntries(Object.entries(all.contexts).filter(([one]) => one !== name));
  await writeContexts(context, { current: all.current === name ? undefined : all.current, contexts });
  await context.stdout.write(`${onOneLine(name)} removed\n`);
  return ExitCode.ok;
}
