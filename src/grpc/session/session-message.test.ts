import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { SessionRequestSchema, SessionResponseSchema } from "../../../test/gen/homeostat/state/v1/session_pb.ts";
import { GrpcError, Status } from "../../rpc/index.ts";
import { WireError, WireWriter } from "../../wire/index.ts";
import {
  readSessionRequest,
  readSessionResponse,
  writeSessionRequest,
  writeSessionResponse,
  type SessionRequest,
  type SessionResponse,
} from "./session-message.ts";
import { decodeSessionStatus, encodeSessionStatus } from "./session-status.ts";

const requestBytes = (request: SessionRequest): Uint8Array => {
  const writer = new WireWriter();
  writeSessionRequest(writer, request);
  return writer.finish();
};
const responseBytes = (response: SessionResponse): Uint8Array => {
  const writer = new WireWriter();
  writeSessionResponse(writer, response);
  return writer.finish();
};

const anyId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anyBytes = fc.uint8Array({ maxLength: 300 });

describe("messages of a session", () => {
  const anyRequest = fc.record({
    id: anyId,
    timeoutMs: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    call: fc.constantFrom("Get", "Create", "Update", "Destroy", "Teardown"),
    message: anyBytes,
  });

  test.prop([anyRequest])("requests are read as they were written", (request) => {
    expect(readSessionRequest(requestBytes(request as SessionRequest))).toEqual(request);
  });

  test.prop([anyId, anyBytes])("responses are read as they were written", (id, bytes) => {
    expect(readSessionResponse(responseBytes({ id, response: bytes }))).toEqual({ id, response: bytes });
    expect(readSessionResponse(responseBytes({ id, status: bytes }))).toEqual({ id, status: bytes });
  });

  test.prop([anyBytes])("bytes that are none are refused as such", (bytes) => {
    for (const read of [readSessionRequest, readSessionResponse]) {
      try {
        read(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    }
  });

  test("are those of the .proto file, both ways", () => {
    const request = create(SessionRequestSchema, {
      id: 7n,
      timeoutMs: 50,
      call: { case: "teardown", value: { namespace: "n", type: "T", id: "a" } },
    });
    const read = readSessionRequest(toBinary(SessionRequestSchema, request));
    expect(read).toMatchObject({ id: 7, timeoutMs: 50, call: "Teardown" });
    expect(fromBinary(SessionRequestSchema, requestBytes(read))).toEqual(request);
    const cancel = { id: 9, timeoutMs: 0, call: "cancel", message: new Uint8Array(0) } as const;
    expect(fromBinary(SessionRequestSchema, requestBytes(cancel)).call).toEqual({ case: "cancel", value: true });
    const response = fromBinary(SessionResponseSchema, responseBytes({ id: 3, response: Uint8Array.of(1, 2) }));
    expect(response).toMatchObject({ id: 3n, result: { case: "response", value: Uint8Array.of(1, 2) } });
  });

  test.each([
    ["nothing", []],
    ["no call", [0x08, 1]],
    ["no id", [0x22, 0]],
    ["a negative id", [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x22, 0]],
    ["a cancel that is false", [0x08, 1, 0x18, 0]],
    ["a call and a cancel", [0x08, 1, 0x18, 1, 0x22, 0]],
  ])("a request with %s is refused", (_, bytes) => {
    expect(() => readSessionRequest(Uint8Array.from(bytes))).toThrow(WireError);
  });

  test("a status keeps its code, text and details; one that cannot be read is INTERNAL", () => {
    const plain = decodeSessionStatus(encodeSessionStatus(new GrpcError(Status.notFound, "there is none")));
    expect(plain).toMatchObject({ code: Status.notFound, message: "there is none" });
    expect(plain.details).toHaveLength(0);
    expect(decodeSessionStatus(Uint8Array.of(0xff))).toMatchObject({ code: Status.internal });
    // A peer that says OK in the place of an error.
    expect(decodeSessionStatus(new Uint8Array(0))).toMatchObject({ code: Status.unknown });
  });
});
