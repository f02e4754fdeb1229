import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { decodeBytes, encodeBytes, encodeMetadata, Metadata, sizeOfHeaders } from "./metadata.ts";

describe("metadata", () => {
  test("text and bytes, one value or several, survive the way", () => {
    const metadata = Metadata.of({
      authorization: "Bearer x",
      node: ["10.0.0.1", "10.0.0.2"],
      "trace-bin": new Uint8Array([0, 255]),
      "many-bin": [new Uint8Array([1]), new Uint8Array([])],
      absent: undefined,
    });
    expect(metadata.get("authorization")).toBe("Bearer x");
    expect(metadata.get("node")).toBe("10.0.0.1, 10.0.0.2");
    expect(metadata.getBytes("trace-bin")).toEqual([Uint8Array.of(0, 255)]);
    expect(metadata.getBytes("many-bin")).toEqual([Uint8Array.of(1), Uint8Array.of()]);
    expect([...metadata.names()].toSorted()).toEqual(["authorization", "many-bin", "node", "trace-bin"]);
  });

  test("a name that is not there, or of the other kind, has no value", () => {
    const metadata = Metadata.of({ a: "x", "a-bin": new Uint8Array([1]) });
    expect(metadata.get("b")).toBeUndefined();
    expect(metadata.get("a-bin")).toBeUndefined();
    expect(metadata.getBytes("a")).toEqual([]);
    expect(metadata.getBytes("b-bin")).toEqual([]);
    expect(metadata.get("constructor")).toBeUndefined();
    expect(metadata.get("__proto__")).toBeUndefined();
  });

  test("what belongs to the protocol is no metadata", () => {
    const metadata = new Metadata({
      ":path": "/a/b",
      te: "trailers",
      "content-type": "application/grpc",
      "grpc-timeout": "1S",
      "grpc-status-details-bin": "AA",
      x: "y",
    });
    expect([...metadata.names()]).toEqual(["x"]);
    expect(metadata.get("grpc-timeout")).toBeUndefined();
    expect(metadata.getBytes("grpc-status-details-bin")).toEqual([]);
    expect(metadata.toHeaders()).toEqual({ x: "y" });
  });

  test.each([
    [{ "": "x" }, 'metadata name "" may have only'],
    [{ Upper: "x" }, 'metadata name "Upper" may have only'],
    [{ "a b": "x" }, 'metadata name "a b" may have only'],
    [{ "grpc-x": "x" }, 'metadata name "grpc-x" is reserved'],
    [{ te: "x" }, 'metadata name "te" is reserved'],
    [{ "user-agent": "x" }, 'metadata name "user-agent" is reserved'],
    [{ a: "ü" }, 'metadata "a" may have only printable ASCII'],
    [{ a: "x\ny" }, 'metadata "a" may have only printable ASCII'],
    [{ a: new Uint8Array(1) }, 'metadata "a" takes text'],
    [{ "a-bin": "x" }, 'metadata "a-bin" takes bytes'],
  ])("%o is refused", (init, message) => {
    expect(() => encodeMetadata(init)).toThrow(message);
  });

  test("`__proto__` is a name like any other", () => {
    const headers = encodeMetadata(JSON.parse('{ "__proto__": "x" }'));
    expect(Object.keys(headers)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(headers)).toBeNull();
  });

  test.prop([fc.uint8Array()])("bytes are sent without padding and read with or without it", (bytes) => {
    const text = encodeBytes(bytes);
    expect(text).not.toContain("=");
    expect(decodeBytes(text)).toEqual([new Uint8Array(bytes)]);
    expect(decodeBytes(Buffer.from(bytes).toString("base64"))).toEqual([new Uint8Array(bytes)]);
  });

  test("the size counts names, values and 32 bytes for each header", () => {
    expect(sizeOfHeaders({ ab: "cde", x: ["1", "22"] })).toBe(32 + 5 + (32 + 2) + (32 + 3));
  });
});
