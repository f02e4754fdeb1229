import { describe, expect, test } from "vitest";
import { GrpcError, isGrpcError } from "./grpc-error.ts";
import { Metadata } from "./metadata.ts";
import { parseStatus, Status, statusName, statusOfHttp } from "./status.ts";
import { okTrailers, statusTrailers } from "./server/response/status-trailers.ts";

describe("status", () => {
  test.each([
    ["0", Status.ok],
    ["16", Status.unauthenticated],
    ["17", Status.unknown],
    ["-1", Status.unknown],
    ["", Status.unknown],
    ["5x", Status.unknown],
    ["005", Status.unknown],
  ])("%j is read as code %d", (text, code) => {
    expect(parseStatus(text)).toBe(code);
  });

  test("has names as gRPC writes them", () => {
    expect(statusName(Status.ok)).toBe("OK");
    expect(statusName(Status.deadlineExceeded)).toBe("DEADLINE_EXCEEDED");
    expect(`${new GrpcError(Status.notFound, "x")}`).toBe("GrpcError: NOT_FOUND: x");
  });

  test.each([
    [400, Status.internal],
    [401, Status.unauthenticated],
    [403, Status.permissionDenied],
    [404, Status.unimplemented],
    [429, Status.unavailable],
    [503, Status.unavailable],
    [418, Status.unknown],
  ])("HTTP status %d means code %d", (http, code) => {
    expect(statusOfHttp(http)).toBe(code);
  });

  test("an error is found through causes", () => {
    const error = new Error("outer", { cause: new GrpcError(Status.notFound, "x") });
    expect(isGrpcError(error)).toBe(true);
    expect(isGrpcError(error, Status.notFound, Status.internal)).toBe(true);
    expect(isGrpcError(error, Status.internal)).toBe(false);
    expect(isGrpcError("x")).toBe(false);
    const loop = new Error("loop");
    loop.cause = loop;
    expect(isGrpcError(loop)).toBe(false);
  });
});

describe("trailers", () => {
  const error = new GrpcError(Status.notFound, "für x", {
    details: new Uint8Array([1, 2, 3, 4]),
    metadata: Metadata.of({ a: "1" }),
  });

  test("hold code, text, details and metadata", () => {
    expect(statusTrailers(error, { b: "2" })).toEqual({
      "grpc-status": "5",
      "grpc-message": "f%C3%BCr x",
      "grpc-status-details-bin": "AQIDBA",
      a: "1",
      b: "2",
    });
    expect(okTrailers({ b: "2" })).toEqual({ "grpc-status": "0", b: "2" });
  });

  test("that are too large lose metadata first, then details, but never the code", () => {
    const named = (metadataBytes: number, detailsBytes: number): string[] => {
      const large = new GrpcError(Status.notFound, "x", {
        details: new Uint8Array(detailsBytes),
        metadata: Metadata.of({ a: "x".repeat(metadataBytes) }),
      });
      return Object.keys(statusTrailers(large, { b: "2" })).toSorted();
    };
    expect(named(10, 10)).toEqual(["a", "b", "grpc-message", "grpc-status", "grpc-status-details-bin"]);
    expect(named(32_000, 10_000)).toEqual(["grpc-message", "grpc-status", "grpc-status-details-bin"]);
    expect(named(10, 32_000)).toEqual(["grpc-message", "grpc-status"]);
  });

  test("cut a text that is too long", () => {
    const trailers = statusTrailers(new GrpcError(Status.unknown, "x".repeat(1_000_000)), undefined);
    expect(String(trailers["grpc-message"])).toMatch(/^x{4093}\.\.\.$/);
  });
});
