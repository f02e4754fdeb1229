import { GrpcError, Status, type DuplexCall } from "../../../rpc/index.ts";
import type { ReflectionIndex } from "./reflection-index.ts";
import type { Method } from "../method.ts";
import type { ReflectionProtocol } from "./reflection-protocol.ts";

/** The service in its present form and in the one that older tools ask for; their messages are the same. */
const SERVICES = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"] as const;

/** Requests that one call may send: more than any tool needs to learn all there is. */
const MAX_REQUESTS = 10_000;

/**
 * Server reflection: generic tools learn from it which services there are and what their messages look like. What it
 * takes is loaded with the first call.
 *
 * @param served - Paths of all other methods.
 */
export function reflectionMethods(served: Iterable<string>): readonly Method[] {
  const paths = SERVICES.map((service) => `/${service}/ServerReflectionInfo`);
  const all = [...served, ...paths];
  let loading: Promise<readonly [ReflectionIndex, ReflectionProtocol]> | undefined;
  const load = async () => {
    const [{ ReflectionIndex: Index }, protocol] = await Promise.all([
      import("./reflection-index.ts"),
      import("./reflection-protocol.ts"),
    ]);
    return [new Index(all), protocol] as const;
  };
  const handler = async (call: DuplexCall): Promise<void> => {
    loading ??= load().catch((error: unknown) => {
      // The next call tries again.
      loading = undefined;
      throw error;
    });
    const [index, { answerReflection }] = await loading;
    let left = MAX_REQUESTS;
    for (let requests = await call.read(); requests !== undefined; requests = await call.read()) {
      for (const request of requests) {
        if (left-- === 0)
          throw new GrpcError(Status.resourceExhausted, `more than ${MAX_REQUESTS} requests in one call`);
        if (!call.hasRoom) await call.drained();
        call.send(answerReflection(index, request));
      }
    }
  };
  return paths.map((path) => [path, { kind: "duplex", handler, onShutdown: "cancel" }]);
}
