import { mkdtemp, rm } from "node:fs/promises";
import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import {
  GrpcServer,
  type GrpcServerOptions,
  type ServerCall,
  type ServerMethod,
  type ServerStreamCall,
} from "../../src/rpc/index.ts";

/** A directory for sockets, gone at the end of its block. */
export async function openDirectory(): Promise<AsyncDisposable & { readonly path: (name: string) => string }> {
  const directory = await mkdtemp(join(tmpdir(), "grpc-"));
  return {
    path: (name) => join(directory, name),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A server on a unix socket of its own. */
export interface RunningServer extends AsyncDisposable {
  readonly server: GrpcServer;
  readonly path: string;
  readonly address: string;
}

export type Methods = Readonly<Record<string, ServerMethod>>;

/** Starts a server with the methods of service `t.T`, by name. */
export async function startServer(methods: Methods, options: Partial<GrpcServerOptions> = {}): Promise<RunningServer> {
  const directory = await openDirectory();
  const server = new GrpcServer({ methods: byPath(methods), ...options });
  const path = directory.path("s");
  const address = await server.listen(`unix:${path}`);
  return {
    server,
    path,
    address,
    [Symbol.asyncDispose]: async () => {
      await server.close({ graceMs: 0 });
      await directory[Symbol.asyncDispose]();
    },
  };
}

export function byPath(methods: Methods): Map<string, ServerMethod> {
  return new Map(Object.entries(methods).map(([name, method]) => [`/t.T/${name}`, method]));
}

export const unary = (handler: (call: ServerCall) => Uint8Array | Promise<Uint8Array>): ServerMethod => ({
  kind: "unary",
  handler,
});

export const serverStream = (handler: (call: ServerStreamCall) => void | Promise<void>): ServerMethod => ({
  kind: "serverStream",
  handler,
});

/** Gives back what it gets. */
export const echo: ServerMethod = unary((call) => call.message);

/** Runs until it is told to stop, and counts how many do. */
export function waiter(): {
  readonly method: ServerMethod;
  readonly running: () => number;
  readonly reasons: unknown[];
} {
  let running = 0;
  const reasons: unknown[] = [];
  const method = serverStream(async ({ signal }) => {
    running += 1;
    await aborted(signal);
    running -= 1;
    reasons.push(signal.reason);
    throw signal.reason;
  });
  return { method, running: () => running, reasons };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What a promise is rejected with; begins to listen at once. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`it went well, with ${String(value)}`);
    },
    (error: unknown) => error,
  );
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (message: Uint8Array | undefined): string => new TextDecoder().decode(message);

/** A message with its prefix, as it goes over the wire. */
export function frame(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** What came back on a plain HTTP/2 request. */
export interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number;
}

/** An HTTP/2 client with no gRPC in it, for what a proper client never sends. */
export async function openHttp2(path: string): Promise<AsyncDisposable & { readonly session: ClientHttp2Session }> {
  const session = http2.connect("http://localhost", { createConnection: () => connect(path) });
  session.on("error", () => {});
  const closed = new Promise<void>((resolve) => session.once("close", () => resolve()));
  await new Promise<void>((resolve) => session.once("remoteSettings", () => resolve()));
  return {
    session,
    [Symbol.asyncDispose]: () => {
      session.destroy();
      return closed;
    },
  };
}

export const grpcHeaders = (method: string): Record<string, string> => ({
  ":method": "POST",
  ":path": `/t.T/${method}`,
  te: "trailers",
  "content-type": "application/grpc",
});

/** Sends the pieces of a body, each in a DATA frame of its own, and gives back the whole answer. */
export async function ask(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  pieces: readonly Uint8Array[],
): Promise<Answer> {
  const stream = session.request(headers, { endStream: false });
  const { promise, resolve } = Promise.withResolvers<Answer>();
  let head: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const body: Buffer[] = [];
  stream.on("response", (received) => (head = received));
  stream.on("trailers", (received) => (trailers = received));
  stream.on("data", (piece: Buffer) => body.push(piece));
  stream.on("error", () => {});
  stream.on("close", () => {
    resolve({ headers: head, trailers, body: Buffer.concat(body), rstCode: stream.rstCode });
  });
  for (const piece of pieces) await new Promise<void>((done) => stream.write(piece, () => done()));
  stream.end();
  return promise;
}

/** A path to a server on which things go wrong. */
export interface Proxy extends AsyncDisposable {
  /** Ends the connections that there are. */
  readonly cut: () => void;
  /** From now on takes what it is sent, and passes nothing on. */
  readonly swallow: () => void;
  /** From now on takes nothing. */
  readonly stall: () => void;
}

/** Listens at `front` and passes everything on to `back`, until it is told otherwise. */
export async function startProxy(front: string, back: string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isGood = true;
  const server = createServer((socket) => {
    const target = connect(back);
    for (const [from, to] of [
      [socket, target],
      [target, socket],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => {
        if (isGood && !to.write(data)) from.pause();
      });
      from.on("drain", () => {
        if (isGood) to.resume();
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (isGood) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(front, () => resolve()));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    cut,
    swallow: () => (isGood = false),
    stall: () => {
      isGood = false;
      for (const socket of sockets) socket.pause();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}
