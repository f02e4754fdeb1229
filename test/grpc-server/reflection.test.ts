import { createFileRegistry, create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { server, type StateServer } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionResponse,
} from "../gen/grpc/reflection/v1/reflection_pb.ts";

type Request = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

const state = new MemoryState();
const servers: StateServer[] = [];
let client: Client;

async function serve(options: Parameters<typeof server>[1]): Promise<Client> {
  const serving = server(state, options);
  servers.push(serving);
  const { address } = await serving.listen("tcp:127.0.0.1:0");
  return new Client(address.replace("tcp://", ""), credentials.createInsecure());
}

beforeAll(async () => {
  client = await serve({ reflection: true });
});

afterAll(async () => {
  client.close();
  for (const serving of servers) await serving.close({ graceMs: 0 });
});

/** Sends raw requests on one call; resolves to the answers, or to the code that it ended with. */
function exchange(on: Client, requests: readonly Uint8Array[], version = "v1"): Promise<Uint8Array[] | number> {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
  const call = on.makeBidiStreamRequest(path, same, same);
  const answers: Uint8Array[] = [];
  return new Promise((resolve) => {
    call.on("data", (answer: Buffer) => answers.push(answer));
    call.on("error", (error: Error & { readonly code: number }) => resolve(error.code));
    call.on("end", () => resolve(answers));
    for (const request of requests) call.write(request);
    call.end();
  });
}

async function ask(request: Request, version?: string): Promise<ServerReflectionResponse["messageResponse"]> {
  const bytes = toBinary(
    ServerReflectionRequestSchema,
    create(ServerReflectionRequestSchema, { messageRequest: request }),
  );
  const answers = await exchange(client, [bytes], version);
  if (typeof answers === "number") throw new Error(`it ended with ${answers}`);
  expect(answers).toHaveLength(1);
  const response = fromBinary(ServerReflectionResponseSchema, answers[0] ?? new Uint8Array());
  expect(response.originalRequest?.messageRequest.case).toBe(request.case);
  expect(response.originalRequest?.messageRequest.value).toEqual(request.value);
  return response.messageResponse;
}

/** What the files of an answer declare. */
async function registryOf(request: Request) {
  const { case: kind, value } = await ask(request);
  if (kind !== "fileDescriptorResponse") throw new Error(`the answer is ${kind}`);
  const file = value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  return createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
}

describe("reflection", () => {
  test.each(["v1", "v1alpha"])("lists the services: %s", async (version) => {
    expect(await ask({ case: "listServices", value: "" }, version)).toMatchObject({
      case: "listServicesResponse",
      value: {
        service: [
          { name: "cosi.resource.State" },
          { name: "grpc.health.v1.Health" },
          { name: "grpc.reflection.v1.ServerReflection" },
          { name: "grpc.reflection.v1alpha.ServerReflection" },
          { name: "homeostat.state.v1.Session" },
        ],
      },
    });
  });

  test.each([
    "cosi.resource.State",
    "cosi.resource.State.Watch",
    "cosi.resource.WatchRequest",
    "cosi.resource.WatchRequest.api_version",
    "cosi.resource.Metadata",
    "cosi.resource.EventType",
    "grpc.health.v1.HealthCheckResponse.ServingStatus",
    "google.protobuf.Timestamp",
  ])("gives the file of %s, and what it imports", async (symbol) => {
    const registry = await registryOf({ case: "fileContainingSymbol", value: symbol });
    const parent = symbol.slice(0, symbol.lastIndexOf("."));
    expect(registry.get(symbol) ?? registry.get(parent)).toBeDefined();
  });

  test("gives a file by its name", async () => {
    const registry = await registryOf({ case: "fileByFilename", value: "cosi/resource/state.proto" });
    expect(registry.getService("cosi.resource.State")?.methods.map(({ name }) => name)).toContain("Watch");
  });

  test.each<[Request, number, string]>([
    [{ case: "fileContainingSymbol", value: "cosi.resource.Nothing" }, 5, 'nothing is called "cosi.resource.Nothing"'],
    [{ case: "fileContainingSymbol", value: "" }, 5, 'nothing is called ""'],
    [{ case: "fileContainingSymbol", value: "." }, 5, "nothing is called"],
    [{ case: "fileContainingSymbol", value: "__proto__" }, 5, "nothing is called"],
    [{ case: "fileByFilename", value: "../../etc/passwd" }, 5, "there is no file"],
    [{ case: "fileByFilename", value: "x".repeat(10_000) }, 5, "there is no file"],
    [{ case: "allExtensionNumbersOfType", value: "cosi.resource.Nothing" }, 5, "there is no message"],
    [
      {
        case: "fileContainingExtension",
        value: create({ ...ServerReflectionRequestSchema.field["fileContainingExtension"]?.message } as never),
      },
      5,
      "has no extensions",
    ],
    [{ case: undefined, value: undefined }, 3, "asks for nothing"],
  ])("says what it does not have: %o", async (request, errorCode, text) => {
    const { case: kind, value } = await ask(request);
    expect(kind).toBe("errorResponse");
    expect(value).toMatchObject({ errorCode, errorMessage: expect.stringContaining(text) });
    expect(JSON.stringify((value as { errorMessage: string }).errorMessage).length).toBeLessThan(300);
  });

  test("a message of the files has no extensions", async () => {
    expect(await ask({ case: "allExtensionNumbersOfType", value: "cosi.resource.Metadata" })).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: { baseTypeName: "cosi.resource.Metadata", extensionNumber: [] },
    });
  });

  test("many requests on one call are answered in order; garbage ends it, and nothing else", async () => {
    const list = toBinary(
      ServerReflectionRequestSchema,
      create(ServerReflectionRequestSchema, { messageRequest: { case: "listServices", value: "" } }),
    );
    const answers = await exchange(
      client,
      Array.from({ length: 100 }, () => list),
    );
    expect(answers).toHaveLength(100);
    expect(await exchange(client, [list, new Uint8Array([0xff, 0xff, 0xff])])).toBe(3);
    expect(await exchange(client, [list])).toHaveLength(1);
  });

  test("it is not there unless it is asked for, and a token counts for it", async () => {
    const plain = await serve({});
    expect(await exchange(plain, [])).toBe(12);
    plain.close();
    const guarded = await serve({ reflection: true, tokens: ["secret"] });
    expect(await exchange(guarded, [])).toBe(16);
    guarded.close();
  });

  test("what is not served is not told of", async () => {
    const without = await serve({ reflection: true, sessions: false });
    const bytes = toBinary(
      ServerReflectionRequestSchema,
      create(ServerReflectionRequestSchema, {
        messageRequest: { case: "fileContainingSymbol", value: "homeostat.state.v1.Session" },
      }),
    );
    const answers = await exchange(without, [bytes]);
    without.close();
    expect(
      fromBinary(ServerReflectionResponseSchema, (answers as Uint8Array[])[0] ?? new Uint8Array()).messageResponse.case,
    ).toBe("errorResponse");
  });
});
