import { chmod, lstat, mkdtemp, rename, rm, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { MAX_PATH_BYTES } from "../address.ts";
import { ListenError } from "../listen-error.ts";

/** What the place to bind is longer than the directory of the socket, such as `/.hXXXXXX/s`. Unit: bytes. */
const BIND_PATH_BYTES = 11;

/** A unix socket that is being taken. */
export interface UnixSocketPlace {
  /** Where to bind: in a directory that only this user may enter. */
  readonly bindPath: string;
  /** To be called once a server listens on {@link bindPath}: gives the socket its mode and its place. */
  publish(): Promise<PublishedSocket>;
  /** To be called instead when there is no server. */
  abandon(): Promise<void>;
}

export interface PublishedSocket {
  /** Removes the socket, unless another server has taken its place meanwhile. */
  remove(): Promise<void>;
}

/**
 * Prepares to listen at `path`. A socket that a dead server left there is replaced, in one step, so that clients find
 * either nothing or a server; the socket is never open to others than `mode` says, not even for a moment.
 *
 * @param mode - Permissions of the socket; who may write may connect.
 * @throws {ListenError} When a server answers at `path`, or something other than a socket is there.
 */
export async function takeUnixSocket(path: string, mode: number): Promise<UnixSocketPlace> {
  const longest = MAX_PATH_BYTES - BIND_PATH_BYTES;
  if (Buffer.byteLength(dirname(path)) > longest) {
    throw new TypeError(`the directory of a unix socket to listen on may have at most ${longest} bytes: ${path}`);
  }
  await expectFree(path);
  const directory = await mkdtemp(join(dirname(path), ".h"));
  const bindPath = join(directory, "s");
  const abandon = (): Promise<void> => rm(directory, { recursive: true, force: true });
  return {
    bindPath,
    abandon,
    publish: async () => {
      try {
        await chmod(bindPath, mode);
        const { dev, ino } = await lstat(bindPath);
        await rename(bindPath, path);
        return {
          remove: async () => {
            const found = await statOrUndefined(path);
            if (found?.dev === dev && found.ino === ino) await unlink(path);
          },
        };
      } finally {
        await abandon();
      }
    },
  };
}

async function expectFree(path: string): Promise<void> {
  const found = await statOrUndefined(path);
  if (found === undefined) return;
  if (!found.isSocket())
    throw new ListenError("taken", `cannot listen on ${path}: there is something that is no socket`);
  if (await answers(path)) throw new ListenError("taken", `cannot listen on ${path}: another server listens on it`);
}

async function statOrUndefined(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** False when the system says that nothing listens; after any other answer, something may. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT");
    });
  });
}
