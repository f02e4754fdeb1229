import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  create,
  fromBinary,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { State, type Event, type WatchResponseSchema } from "../gen/cosi/resource/state_pb.ts";
import type { Resource } from "../gen/cosi/resource/resource_pb.ts";
import { ErrorInfoSchema } from "../../src/grpc/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../src/grpc/gen/google/rpc/status_pb.ts";
import { server, type StateServer, type StateServerOptions } from "../../src/grpc/index.ts";
import {
  GrpcChannel,
  GrpcError,
  type GrpcCallOptions,
  type GrpcChannelOptions,
  type MessageStream,
} from "../../src/rpc/index.ts";
import type { CoreState } from "../../src/state/index.ts";

const methods: typeof State.method = State.method;

/** A method of one answer, called. */
type Unary<M extends { readonly input: DescMessage; readonly output: DescMessage }> = (
  request: MessageInitShape<M["input"]>,
  options?: GrpcCallOptions,
) => Promise<MessageShape<M["output"]>>;

/** A folder for sockets and files, removed with its scope. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), "homeostat-")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/**
 * The other side of a server: the calls as they stand in the `.proto` file, each message coded by protobuf-es, so that
 * nothing of the server's own codec is taken for granted.
 */
export class Peer implements AsyncDisposable {
  readonly channel: GrpcChannel;

  constructor(address: string, options?: GrpcChannelOptions) {
    this.channel = new GrpcChannel(address, options);
  }

  readonly get: Unary<typeof methods.get> = this.#unary(methods.get);
  readonly create: Unary<typeof methods.create> = this.#unary(methods.create);
  readonly update: Unary<typeof methods.update> = this.#unary(methods.update);
  readonly destroy: Unary<typeof methods.destroy> = this.#unary(methods.destroy);
  readonly teardown: Unary<typeof methods.teardown> = this.#unary(methods.teardown);
  readonly teardownAndDestroy: Unary<typeof methods.teardownAndDestroy> = this.#unary(methods.teardownAndDestroy);

  /** All resources of a List. */
  async list(request: MessageInitShape<typeof methods.list.input>): Promise<readonly Resource[]> {
    const found: Resource[] = [];
    for await (const { resource } of new Messages(methods.list.output, this.#stream(methods.list, request, {}))) {
      if (resource !== undefined) found.push(resource);
    }
    return found;
  }

  watch(request: MessageInitShape<typeof methods.watch.input>, options: GrpcCallOptions = {}): WatchMessages {
    return new Messages(methods.watch.output, this.#stream(methods.watch, request, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.channel.close();
  }

  #unary<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>): Unary<DescMethodUnary<I, O>> {
    return async (request, options) => {
      const bytes = toBinary(method.input, create(method.input, request));
      return fromBinary(method.output, await this.channel.unary(pathOf(method), bytes, options));
    };
  }

  #stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: GrpcCallOptions,
  ): MessageStream {
    const bytes = toBinary(method.input, create(method.input, request));
    return this.channel.serverStream(pathOf(method), bytes, options);
  }
}

function pathOf(method: { readonly parent: { readonly typeName: string }; readonly name: string }): string {
  return `/${method.parent.typeName}/${method.name}`;
}

export type WatchMessages = Messages<typeof WatchResponseSchema>;

/** The messages of a stream, decoded, one by one. */
export class Messages<O extends DescMessage> implements AsyncIterable<MessageShape<O>>, AsyncDisposable {
  readonly stream: MessageStream;
  readonly #schema: O;
  readonly #iterator: AsyncIterator<Uint8Array>;

  constructor(schema: O, stream: MessageStream) {
    this.#schema = schema;
    this.stream = stream;
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** The next message as it came; undefined at the end. */
  async bytes(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#iterator.next();
    return done === true ? undefined : value;
  }

  /** @throws {GrpcError} what the stream ended with. */
  async next(): Promise<MessageShape<O>> {
    const bytes = await this.bytes();
    if (bytes === undefined) throw new Error("the stream has ended");
    return fromBinary(this.#schema, bytes);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MessageShape<O>> {
    for (let bytes = await this.bytes(); bytes !== undefined; bytes = await this.bytes()) {
      yield fromBinary(this.#schema, bytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stream[Symbol.asyncDispose]();
  }
}

/** Messages of a watch until `count` events have come, the first one, which is empty, left out. */
export async function eventsOf(watch: WatchMessages, count: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  while (events.length < count) events.push(...(await watch.next()).event);
  return events;
}

/** A server on a unix socket, and a peer that is connected to it. */
export class Served extends Peer {
  readonly server: StateServer;
  readonly address: string;
  readonly #folder: TemporaryFolder;

  private constructor(served: StateServer, address: string, folder: TemporaryFolder, options?: GrpcChannelOptions) {
    super(address, options);
    this.server = served;
    this.address = address;
    this.#folder = folder;
  }

  static async start(state: CoreState, options?: StateServerOptions, channel?: GrpcChannelOptions): Promise<Served> {
    const folder = await TemporaryFolder.make();
    const served = server(state, options);
    const { address } = await served.listen(`unix:${join(folder.path, "state.sock")}`);
    return new Served(served, address, folder, channel);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.server.close({ graceMs: 1000 });
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** The status that a call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<GrpcError> {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof GrpcError) return error;
  throw error;
}

/** Reason and address in the details of a status, which readers of other kinds pass over. */
export function reasonOf(error: GrpcError): {
  readonly reason: string;
  readonly pointer: Readonly<Record<string, string>>;
} {
  const [detail] = fromBinary(StatusSchema, error.details).details;
  const info = detail && anyUnpack(detail, ErrorInfoSchema);
  return { reason: info?.reason ?? "", pointer: info?.metadata ?? {} };
}
