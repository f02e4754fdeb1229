import { messageOf } from "../../internal/foreign-value.ts";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Capability } from "./capability.ts";
import type { MetadataInit } from "../metadata/metadata.ts";
import { OpaqueSpec } from "../spec/opaque-spec.ts";
import { formatPointer, type Kind, type Pointer, type Ref } from "../pointer.ts";
import { createResource, sealResource, sourceOf, type Resource, type SpecSource } from "../resource.ts";
import { SchemaSource } from "../spec/schema-source.ts";
import { jsonCodec } from "../spec/json-codec.ts";
import type { SpecCodec } from "../spec/spec-codec.ts";
import { StateError } from "../state-error.ts";

/** How a type presents itself to people: aliases and table columns of its resource definition. */
export interface TypePresentation {
  /** Short names for the command line, besides those derived from the type. */
  readonly aliases: readonly string[];
  /** Column header → JSONPath over the spec. */
  readonly columns: Readonly<Record<string, string>>;
  /** Sensitive specs are hidden by default wherever they would be shown. */
  readonly sensitive: boolean;
  /** Only the given aliases count, none are derived from the type. */
  readonly skipAutomaticAliases: boolean;
}

/** What {@link ResourceType.create} takes besides id and spec. */
export type CreateInit = Partial<Pick<MetadataInit, "labels" | "annotations" | "finalizers" | "owner">>;

/**
 * Describes one type of resources: its name, default namespace and schema. It is a {@link Kind}, so it stands wherever
 * one is asked for, and the answer is then typed. Make one with {@link defineResource}.
 */
export interface ResourceType<Spec = unknown, Type extends string = string, Input = Spec> extends Kind, SpecSource {
  readonly type: Type;
  /** Default namespace; {@link in} gives the same type in another. */
  readonly namespace: string;
  readonly presentation: TypePresentation;
  /** Writes and reads specs for peers and stores. */
  readonly codec: SpecCodec<Spec>;
  /** Identity of the definition: the same object for a type in all its namespaces. */
  readonly source: SpecSource;
  /** The same type with another default namespace. */
  in(namespace: string): ResourceType<Spec, Type, Input>;
  /** Address of one resource in the default namespace. */
  ref(id: string): Ref<Spec, Type>;
  /**
   * A new resource in the default namespace. Nothing is stored yet.
   *
   * @throws {StateError} `invalid` when the schema refuses the spec; the message lists every issue with its path.
   */
  create(id: string, spec: Input, init?: CreateInit): Resource<Spec, Type>;
  /** @throws {StateError} `invalid` */
  parseSpec(value: unknown, pointer?: Pointer): Spec;
  /**
   * `resource` as one of this type; a spec that came undecoded is decoded.
   *
   * @throws {StateError} `type_mismatch` when it is of another type, `invalid` when the schema refuses its spec.
   */
  cast(resource: Resource): Resource<Spec, Type>;
  /**
   * A definition that differs in one thing: its resources can do what `capability` stands for. Use it in place of this
   * one from the start; the two are not the same to a registry.
   */
  providing<Methods extends object>(
    capability: Capability<Methods>,
    make: (resource: Resource<Spec, Type>) => Methods,
  ): ResourceType<Spec, Type, Input>;
}

/** A {@link ResourceType} whatever its spec. */
export type AnyResourceType = ResourceType<unknown, string, never>;

/** The spec of a {@link ResourceType}, as it is written: mutable. */
export type SpecOf<R> = R extends ResourceType<infer Spec, string, never> ? Spec : never;

/** What {@link defineResource} takes. */
export interface ResourceTypeInit<Schema extends StandardSchemaV1, Type extends string> {
  /** `Plural.group.domain`, such as `Services.supervisor.example.dev`; free form for types without a definition. */
  readonly type: Type;
  /** Default: `default`. */
  readonly namespace?: string | undefined;
  /**
   * Checks and completes specs. Any Standard Schema library will do; it must validate synchronously, and accept what
   * it returns.
   */
  readonly spec: Schema;
  /**
   * How specs are written for peers and stores. Default: the schema itself if it has all four methods of a codec, as that
   * of a protobuf message has (`protobufSpec` of `homeostat/grpc`), else JSON.
   */
  readonly codec?: SpecCodec<StandardSchemaV1.InferOutput<Schema>> | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Default: false. */
  readonly sensitive?: boolean | undefined;
  /** Default: false. */
  readonly skipAutomaticAliases?: boolean | undefined;
}

/** Describes a type of resources. Pure: nothing is registered anywhere. */
export function defineResource<Schema extends StandardSchemaV1, const Type extends string>(
  init: ResourceTypeInit<Schema, Type>,
): ResourceType<StandardSchemaV1.InferOutput<Schema>, Type, StandardSchemaV1.InferInput<Schema>> {
  if (typeof init?.type !== "string" || init.type === "")
    throw new TypeError("defineResource needs a type, such as Services.example.dev");
  if (typeof init.spec?.["~standard"]?.validate !== "function") {
    throw new TypeError(`defineResource(${init.type}) needs a Standard Schema as its spec`);
  }
  const codec: SpecCodec = init.codec ?? (isCodec(init.spec) ? init.spec : jsonCodec);
  return new DefinedType(init.namespace ?? "default", new SchemaSource(init.type, init.spec, codec), {
    aliases: Object.freeze([...(init.aliases ?? [])]),
    columns: Object.freeze({ ...init.columns }),
    sensitive: init.sensitive ?? false,
    skipAutomaticAliases: init.skipAutomaticAliases ?? false,
  }) as never;
}

/** Schemas of other libraries have methods called `encode` and `decode` that mean something else: Zod's do. */
function isCodec(schema: object): schema is Required<SpecCodec> {
  const { encode, decode, toReadable, fromReadable } = schema as Partial<SpecCodec>;
  return [encode, decode, toReadable, fromReadable].every((method) => typeof method === "function");
}

class DefinedType implements ResourceType {
  readonly type: string;
  readonly namespace: string;
  readonly presentation: TypePresentation;
  readonly #schema: SchemaSource;

  constructor(namespace: string, schema: SchemaSource, presentation: TypePresentation) {
    this.type = schema.type;
    this.namespace = namespace;
    this.#schema = schema;
    this.presentation = presentation;
    Object.freeze(this);
  }

  get source(): SpecSource {
    return this.#schema;
  }

  get codec(): SpecCodec {
    return this.#schema.codec;
  }

  in(namespace: string): ResourceType {
    return new DefinedType(namespace, this.#schema, this.presentation);
  }

  ref(id: string): Ref {
    return { namespace: this.namespace, type: this.type, id };
  }

  create(id: string, spec: unknown, init: CreateInit = {}): Resource {
    const { labels, annotations, finalizers, owner } = init;
    const { namespace, type } = this;
    return createResource({ namespace, type, id, labels, annotations, finalizers, owner }, spec, this.source);
  }

  parseSpec(value: unknown, pointer: Pointer = this.ref("")): unknown {
    return this.source.parseSpec(value, pointer);
  }

  cast(resource: Resource): Resource {
    if (sourceOf(resource) === this.source) return resource;
    if (resource.metadata.type !== this.type) {
      throw new StateError("type_mismatch", `type mismatch: expected ${this.type}, got ${resource.metadata.type}`, {
        pointer: resource.metadata,
      });
    }
    return sealResource(resource.metadata, this.#specOf(resource), this.source);
  }

  /** What came undecoded, because its type was not known there, is decoded now. */
  #specOf({ metadata, spec }: Resource): unknown {
    if (!(spec instanceof OpaqueSpec)) return spec;
    try {
      return this.codec.decode(spec.bytes ?? new Uint8Array(0));
    } catch (cause) {
      const reason = messageOf(cause);
      throw new StateError("invalid", `${formatPointer(metadata)} is invalid: its spec cannot be decoded: ${reason}`, {
        cause,
        pointer: metadata,
      });
    }
  }

  providing(capability: Capability<object>, make: (resource: Resource) => object): ResourceType {
    return new DefinedType(this.namespace, this.#schema.providing(capability, make), this.presentation);
  }
}
