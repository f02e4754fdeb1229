import { onOneLine } from "../../../internal/visible-text.ts";
import { usageError } from "../../cli-error.ts";
import type { EndpointFlags } from "../../connect/endpoint.ts";
import type { CommonFlags, Session } from "../../connect/session.ts";
import { ExitCode } from "../../exit-code.ts";
import { reportFailure, exitCodeOf } from "../../failure.ts";
import { packageVersion } from "../../package-version.ts";

export interface VersionOptions extends EndpointFlags, CommonFlags {
  /** Ask no server. Default: false. */
  readonly client?: boolean | undefined;
  /** `text` or `json`. Default: text. */
  readonly output?: string | undefined;
}

/** Shows the version of this program, and of the server that the flags name. */
export async function version(session: Session, options: VersionOptions): Promise<ExitCode> {
  const { stdout, stderr, signal } = session.plain(options);
  const { client = false, output = "text" } = options;
  if (output !== "text" && output !== "json")
    throw usageError(`-o must be text or json, got ${JSON.stringify(output)}`);
  const own = await packageVersion();
  if (output === "text") await stdout.write(`client: homeostat ${own}, Node ${process.versions.node}\n`);
  let exitCode: ExitCode = ExitCode.ok;
  let servers: Awaited<ReturnType<Session["serverVersions"]>> = [];
  try {
    if (!client) servers = await session.serverVersions(options);
  } catch (error) {
    if (signal.aborted) throw error;
    exitCode = exitCodeOf(error);
    await reportFailure(stderr, error);
  }
  const shown = servers.map(({ endpoint, version: server }) => ({
    address: endpoint.address,
    ...(endpoint.node !== undefined && { node: endpoint.node }),
    ...(server !== undefined && { name: server.name, version: server.version }),
  }));
  if (output === "json") {
    const value = { client: { name: "homeostat", version: own, node: process.versions.node }, servers: shown };
    await stdout.write(`${JSON.stringify(value, undefined, 4)}\n`);
    return exitCode;
  }
  for (const { address, node, name, version: server } of shown) {
    const place = node === undefined ? address : `${address}, node ${node}`;
    const what = name === undefined ? "does not say its version" : `${name} ${server ?? ""}`.trim();
    await stdout.write(onOneLine(`server: ${what} (${place})`) + "\n");
  }
  return exitCode;
}
