import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { GrpcError, Status } from "../../../rpc/index.ts";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import type { ReflectionIndex } from "./reflection-index.ts";

/** This module. */
export interface ReflectionProtocol {
  answerReflection: typeof answerReflection;
}

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** Characters of a name that an answer repeats. */
const MAX_NAME = 200;

/** One request, one answer: what cannot be answered is an answer of its own. @throws {GrpcError} for bytes that are none. */
export function answerReflection(index: ReflectionIndex, bytes: Uint8Array): Uint8Array {
  const request = parse(bytes);
  const messageResponse = answer(index, request.messageRequest);
  const response = { validHost: request.host, originalRequest: request, messageResponse };
  return toBinary(ServerReflectionResponseSchema, create(ServerReflectionResponseSchema, response));
}

function parse(bytes: Uint8Array): ServerReflectionRequest {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes);
  } catch (cause) {
    throw new GrpcError(Status.invalidArgument, "the request is no ServerReflectionRequest", { cause });
  }
}

function answer(index: ReflectionIndex, { case: kind, value }: ServerReflectionRequest["messageRequest"]): Answer {
  switch (kind) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: index.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.file(value), `there is no file ${quoted(value)}`);
    case "fileContainingSymbol":
      return files(index.fileOf(value), `nothing is called ${quoted(value)}`);
    case "fileContainingExtension":
      return failure(Status.notFound, `${quoted(value.containingType)} has no extensions`);
    case "allExtensionNumbersOfType":
      if (!index.isMessage(value)) return failure(Status.notFound, `there is no message ${quoted(value)}`);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: value } };
    case undefined:
      return failure(Status.invalidArgument, "the request asks for nothing");
  }
}

const files = (found: readonly Uint8Array[] | undefined, otherwise: string): Answer =>
  found === undefined
    ? failure(Status.notFound, otherwise)
    : { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...found] } };

const failure = (code: Status, errorMessage: string): Answer => ({
  case: "errorResponse",
  value: { errorCode: code, errorMessage },
});

const quoted = (name: string): string => JSON.stringify(name.slice(0, MAX_NAME));
