import { lstat, mkdir } from "node:fs/promises";
import { platform, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Where {@link defaultEndpoint} looks. */
export interface DefaultEndpointOptions {
  /** The environment of the process; `XDG_RUNTIME_DIR` counts. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Makes the folder of the socket, for a server. Default: false. */
  readonly create?: boolean | undefined;
  /** Default: the user of the process. */
  readonly userId?: number | undefined;
  /** Folder for temporary files, where the environment names none for sockets. Default: the system's. */
  readonly temporaryFolder?: string | undefined;
}

/**
 * The address at which this user's control plane serves and the command line looks, unless they are told otherwise: a
 * unix socket in a folder of the user's own.
 *
 * @throws {Error} when others can write to that folder: its owner could read everything. On Windows, which has
 * no such place.
 */
export async function defaultEndpoint(options: DefaultEndpointOptions): Promise<string> {
  const { env, create = false, userId = userInfo().uid, temporaryFolder = tmpdir() } = options;
  if (platform() === "win32") throw new Error("there is no usual place for a socket on Windows; name an address");
  const runtimeFolder = env["XDG_RUNTIME_DIR"];
  const folder = runtimeFolder ? join(runtimeFolder, "homeostat") : join(temporaryFolder, `homeostat-${userId}`);
  if (create) await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkFolder(folder, userId);
  return `unix:${join(folder, "homeostat.sock")}`;
}

async function checkFolder(folder: string, userId: number): Promise<void> {
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  // Where there is no folder, there is no server either.
  if (found === undefined || (found.isDirectory() && found.uid === userId && (found.mode & 0o022) === 0)) return;
  throw new Error(`${folder} is not a folder that only you can write to; use a socket in another place`);
}
