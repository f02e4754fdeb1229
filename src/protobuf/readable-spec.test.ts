import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createResource, defineResource, OpaqueSpec, shape, TypeRegistry, type SpecCodec } from "../resource/index.ts";
import { ResourceDefinitionSpecSchema } from "../../test/gen/cosi/resource/meta/meta_pb.ts";
import { protobufSpec } from "./protobuf-spec.ts";
import { encodeReadableSpec, isReadableRefusal, readableProbe } from "./readable-spec.ts";
import { ResourceDecoder } from "./resource-decoder.ts";
import { ResourceEncoder } from "./resource-encoder.ts";

/** Takes any bytes: nothing would be refused by itself. */
const textCodec: SpecCodec<{ value: string }> = {
  encode: ({ value }) => new TextEncoder().encode(value),
  decode: (bytes) => ({ value: new TextDecoder().decode(bytes) }),
};
const Note = defineResource({ type: "Notes.example.dev", spec: shape({ value: "string" }), codec: textCodec });
const Plain = defineResource({ type: "Plains.example.dev", spec: z.object({ size: z.bigint() }) });
const Message = defineResource({ type: "Messages.example.dev", spec: protobufSpec(ResourceDefinitionSpecSchema) });

const decoder = new ResourceDecoder(new TypeRegistry([Note, Plain, Message]));

function receive(type: string, bytes: Uint8Array): unknown {
  const sent = createResource({ namespace: "default", type, id: "a" }, new OpaqueSpec({ bytes }));
  return decoder.decode(new ResourceEncoder().encode(sent)).spec;
}

describe("a spec in the form for people", () => {
  test("becomes one of its type, whatever form that has", () => {
    expect(receive(Note.type, encodeReadableSpec({ value: "x" }))).toEqual({ value: "x" });
    expect(receive(Plain.type, encodeReadableSpec({ size: 2n ** 60n }))).toEqual({ size: 2n ** 60n });
    const message = receive(Message.type, encodeReadableSpec({ resourceType: "T", aliases: ["t"], sensitivity: 1 }));
    expect(message).toMatchObject({ resourceType: "T", aliases: ["t"], sensitivity: 1, displayType: "" });
  });

  test("is refused by its schema like any other", () => {
    expect(() => receive(Note.type, encodeReadableSpec({ value: 7 }))).toThrow("spec.value: must be");
    expect(() => receive(Message.type, encodeReadableSpec({ aliases: 7 }))).toThrow("cannot be decoded");
  });

  test("stays what it is where nobody knows the type", () => {
    const bytes = encodeReadableSpec({ value: "x" });
    expect((receive("Strangers.example.dev", bytes) as OpaqueSpec).bytes).toEqual(bytes);
  });

  test("a probe is refused by those who know the type, in a way that can be told", () => {
    for (const type of [Note, Plain, Message]) {
      let refusal: unknown;
      try {
        receive(type.type, readableProbe());
      } catch (error) {
        refusal = error;
      }
      expect(isReadableRefusal(refusal)).toBe(true);
    }
    expect((receive("Strangers.example.dev", readableProbe()) as OpaqueSpec).bytes).toEqual(readableProbe());
    expect(isReadableRefusal(new Error("does not exist"))).toBe(false);
    expect(isReadableRefusal("readable")).toBe(false);
  });

  test("no codec of ours takes the mark for its own", () => {
    for (const type of [Plain, Message]) expect(() => type.codec.decode(readableProbe())).toThrow(Error);
  });
});
