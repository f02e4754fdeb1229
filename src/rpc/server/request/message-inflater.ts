import { type InputType, type ZlibOptions, type Zlib, gunzip, inflate } from "node:zlib";
import { SerialQueue } from "../../../internal/serial-queue.ts";
import { GrpcError } from "../../grpc-error.ts";
import { Status } from "../../status.ts";

/** What the callback of a decoder gets with the option `info`. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: Pick<Zlib, "bytesWritten">;
}

type Decoder = (bytes: InputType, options: ZlibOptions, done: (error: Error | null, result: unknown) => void) => void;

/** Decoders by encoding, as `grpc-encoding` names it; `deflate` is the format of zlib (RFC 1950). */
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", gunzip],
  ["deflate", inflate],
]);

const IDENTITY = "identity";

/** Value of `grpc-accept-encoding`: how messages to a server may be encoded. */
export const ACCEPTED_ENCODINGS: string = [IDENTITY, ...DECODERS.keys()].join(",");

/**
 * The encoding of a call's compressed messages; undefined when it has none.
 *
 * @param header - The call's `grpc-encoding`.
 * @throws {GrpcError} UNIMPLEMENTED for an encoding that is not supported.
 */
export function parseEncoding(header: string): string | undefined {
  const encoding = header.trim().toLowerCase();
  if (encoding === IDENTITY) return undefined;
  if (DECODERS.has(encoding)) return encoding;
  throw new GrpcError(
    Status.unimplemented,
    `the encoding ${JSON.stringify(header.slice(0, 40))} is not supported; supported are ${ACCEPTED_ENCODINGS}`,
  );
}

/**
 * Inflates the compressed messages of one connection, off the main thread. One at a time: however many calls are open,
 * no more than one message is being inflated, and none beyond the limit.
 */
export class MessageInflater {
  readonly #limitBytes: number;
  readonly #queue = new SerialQueue();

  /** @param limitBytes - Larger messages are refused, once inflated. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Resolves to the inflated message; to undefined when it was not wanted any more by the time it was its turn.
   *
   * @param message - Gives the message, when it is its turn; undefined when its call is over.
   * @param encoding - From {@link parseEncoding}.
   * @throws {GrpcError} RESOURCE_EXHAUSTED for a message above the limit; INTERNAL for what is not of this encoding, is
   *   cut off, or has something behind it, and for a compressed message in a call without an encoding.
   */
  inflate(message: () => Uint8Array | undefined, encoding: string | undefined): Promise<Uint8Array | undefined> {
    const decoder = encoding === undefined ? undefined : DECODERS.get(encoding);
    if (decoder === undefined) {
      return Promise.reject(new GrpcError(Status.internal, "a message is compressed, but grpc-encoding is missing"));
    }
    return this.#queue.run(() => {
      const bytes = message();
      return bytes && this.#run(decoder, bytes);
    });
  }

  #run(decoder: Decoder, message: Uint8Array): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    decoder(message, { info: true, maxOutputLength: this.#limitBytes }, (error, result) => {
      if (error !== null) {
        reject(this.#explain(error));
        return;
      }
      const { buffer, engine } = result as Inflated;
      if (engine.bytesWritten === message.length) resolve(buffer);
      else reject(malformed(`${message.length - engine.bytesWritten} bytes follow its end`));
    });
    return promise;
  }

  #explain(error: Error): GrpcError {
    if (!("code" in error) || error.code !== "ERR_BUFFER_TOO_LARGE") return malformed(error.message, error);
    return new GrpcError(
      Status.resourceExhausted,
      `a compressed message is larger, once inflated, than the ${this.#limitBytes} bytes that are accepted`,
    );
  }
}

function malformed(reason: string, cause?: Error): GrpcError {
  return new GrpcError(Status.internal, `a compressed message cannot be inflated: ${reason}`, { cause });
}
