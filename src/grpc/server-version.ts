import { readFile } from "node:fs/promises";
import { WireReader, WireWriter } from "../wire/index.ts";

/** Method of ours beside the State service: other servers answer UNIMPLEMENTED. */
export const SERVER_VERSION_PATH = "/homeostat.Server/Version";

/** What a server is. */
export interface ServerVersion {
  /** Name of the program or library: `homeostat`. */
  readonly name: string;
  readonly version: string;
}

const NAME_TAG = 0x0a;
const VERSION_TAG = 0x12;

export function encodeServerVersion({ name, version }: ServerVersion): Uint8Array {
  const writer = new WireWriter();
  if (name !== "") writer.stringField(NAME_TAG, name);
  if (version !== "") writer.stringField(VERSION_TAG, version);
  return writer.take();
}

export function decodeServerVersion(bytes: Uint8Array): ServerVersion {
  const reader = new WireReader(bytes);
  let [name, version] = ["", ""];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAME_TAG) name = reader.string();
    else if (tag === VERSION_TAG) version = reader.string();
    else reader.skip(tag);
  }
  return { name, version };
}

/** The version of the package that this file is part of. The way up is the same from what is built of the sources. */
export async function ownVersion(): Promise<ServerVersion> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  return { name: "homeostat", version: String(version) };
}
