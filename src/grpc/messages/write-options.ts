import { formatInstant, readTimestamp, writeTimestamp, type Instant } from "../../protobuf/index.ts";
import type { WireReader, WireWriter } from "../../wire/index.ts";

const OWNER_TAG = 0x0a;
/** Of ours: see `life` in state.proto. */
const LIFE_TAG = (1000 << 3) | 2;

/** The fields that the options of all writes share. */
export interface WriteOptions {
  /** Empty: none. */
  readonly owner: string;
  /**
   * When the life that is meant was created, in RFC 3339; undefined for whichever is at the address. Unlike the time in
   * metadata, it is certain to be the server's: other clients keep the time of their own clock after a create.
   */
  readonly life: string | undefined;
}

/** The first field of the options, unless it is empty. */
export function writeOwner(writer: WireWriter, owner: string): void {
  if (owner !== "") writer.stringField(OWNER_TAG, owner);
}

/** The last field of the options, if any. */
export function writeLife(writer: WireWriter, life: string | undefined): void {
  if (life !== undefined) writeTimestamp(writer, LIFE_TAG, life);
}

/** Takes in the fields of one options message, or of several that are merged. */
export class WriteOptionParts implements WriteOptions {
  owner = "";
  #life: Instant | undefined;

  get life(): string | undefined {
    return this.#life && formatInstant(this.#life.seconds, this.#life.nanos);
  }

  /** Reads the message in the field at hand. @throws {WireError} */
  read(reader: WireReader): void {
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) this.readField(reader, tag);
    reader.leave(outer);
  }

  /** Reads one field of the message, or skips it. @throws {WireError} */
  readField(reader: WireReader, tag: number): void {
    if (tag === OWNER_TAG) this.owner = reader.string();
    else if (tag === LIFE_TAG) this.#life = readTimestamp(reader, this.#life);
    else reader.skip(tag);
  }
}
