import { defineResource, shape, type ResourceType } from "../../resource/index.ts";
import { intCodec, pathCodec, textCodec } from "./conformance-codecs.ts";
import type { IntSpec, PathSpec, TextSpec } from "./conformance-specs.ts";

export type { IntSpec, PathSpec, TextSpec } from "./conformance-specs.ts";

/** The resource of the State suite: a path without content. */
export const PathResource: ResourceType<PathSpec, "os/path"> = defineResource({
  type: "os/path",
  spec: shape({}),
  codec: pathCodec,
});

/** A whole number: the input of most controllers in the engine's suite. */
export const Int: ResourceType<IntSpec, "test/int"> = defineResource({
  type: "test/int",
  spec: shape({ value: "integer" }),
  codec: intCodec,
});

/** A text: what controllers of the engine's suite make of an {@link Int}. */
export const Str: ResourceType<TextSpec, "test/str"> = defineResource({
  type: "test/str",
  spec: shape({ value: "string" }),
  codec: textCodec,
});

/** Another text, made of a {@link Str}. */
export const Sentence: ResourceType<TextSpec, "test/sentence"> = defineResource({
  type: "test/sentence",
  spec: shape({ value: "string" }),
  codec: textCodec,
});
