import type { Clock } from "../../clock/index.ts";
import { GrpcError, type MessageStream, Status } from "../transport/index.ts";

/**
 * The next messages of a stream, which is cancelled when they do not come in time.
 *
 * @param what - What is waited for, for the message.
 * @throws {GrpcError} DEADLINE_EXCEEDED, or the status of the stream.
 */
export async function readWithin(
  stream: MessageStream,
  clock: Clock,
  timeoutMs: number,
  what: string,
): Promise<readonly Uint8Array[] | undefined> {
  if (timeoutMs === Infinity) return stream.read();
  let late = false;
  const timer = clock.schedule(timeoutMs, () => {
    late = true;
    stream.cancel();
  });
  try {
    const messages = await stream.read();
    if (late) throw new GrpcError(Status.deadlineExceeded, `${what} did not come within ${timeoutMs} ms`);
    return messages;
  } finally {
    timer.cancel();
  }
}
