import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { GrpcChannel, type DuplexStream } from "../../src/rpc/index.ts";
import {
  SessionRequestSchema,
  SessionResponseSchema,
  type SessionResponse,
} from "../gen/homeostat/state/v1/session_pb.ts";

export const SESSION_PATH = "/homeostat.state.v1.Session/Open";

/** A session spoken by hand, with the generated messages in place of our codec. */
export class RawSession implements AsyncDisposable {
  readonly channel: GrpcChannel;
  readonly stream: DuplexStream;
  #received: SessionResponse[] = [];

  private constructor(channel: GrpcChannel, stream: DuplexStream) {
    this.channel = channel;
    this.stream = stream;
  }

  static async open(address: string): Promise<RawSession> {
    const channel = new GrpcChannel(address);
    const stream = channel.duplex(SESSION_PATH);
    await stream.opened;
    return new RawSession(channel, stream);
  }

  call(id: number, call: NonNullable<MessageInitShape<typeof SessionRequestSchema>["call"]>, timeoutMs = 0): void {
    this.send(toBinary(SessionRequestSchema, create(SessionRequestSchema, { id: BigInt(id), timeoutMs, call })));
  }

  get(id: number, resource: string, timeoutMs?: number): void {
    const value = { namespace: "default", type: "Ints.session.example.dev", id: resource, options: {} };
    this.call(id, { case: "get", value }, timeoutMs);
  }

  cancel(id: number): void {
    this.call(id, { case: "cancel", value: true });
  }

  send(bytes: Uint8Array): void {
    this.stream.send(bytes);
  }

  /** The next response; undefined when the server has ended the session with OK. */
  async next(): Promise<SessionResponse | undefined> {
    while (this.#received.length === 0) {
      const batch = await this.stream.read();
      if (batch === undefined) return undefined;
      this.#received.push(...batch.map((bytes) => fromBinary(SessionResponseSchema, bytes)));
    }
    return this.#received.shift();
  }

  /** Ids of the next responses, with the status code of those that are one. */
  async ids(count: number): Promise<string[]> {
    const seen: string[] = [];
    for (let i = 0; i < count; i++) {
      const response = await this.next();
      const { case: kind, value } = response?.result ?? {};
      seen.push(kind === "status" ? `${response?.id}: status ${value?.code}` : `${response?.id}`);
    }
    return seen.toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.channel.close();
  }
}
