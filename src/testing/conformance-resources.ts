import { defineResource, shape, type ResourceType } from "../resource/index.ts";

/** The spec of {@link PathResource}: nothing. The path is the id. */
export type PathSpec = Record<string, never>;

/** The spec of {@link Int}. */
export interface IntSpec {
  /** A whole number, exact: within ±(2^53 − 1). */
  value: number;
}

/** The spec of {@link Str} and {@link Sentence}. */
export interface TextSpec {
  value: string;
}

/** The resource of the State suite: a path without content. */
export const PathResource: ResourceType<PathSpec, "os/path"> = defineResource({
  type: "os/path",
  spec: shape({}),
});

/** A whole number: the input of most controllers in the engine's suite. */
export const Int: ResourceType<IntSpec, "test/int"> = defineResource({
  type: "test/int",
  spec: shape({ value: "integer" }),
});

/** A text: what controllers of the engine's suite make of an {@link Int}. */
export const Str: ResourceType<TextSpec, "test/str"> = defineResource({
  type: "test/str",
  spec: shape({ value: "string" }),
});

/** Another text, made of a {@link Str}. */
export const Sentence: ResourceType<TextSpec, "test/sentence"> = defineResource({
  type: "test/sentence",
  spec: shape({ value: "string" }),
});
