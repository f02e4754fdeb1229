import {
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type JsonValue,
  type Message,
  type MessageInitShape,
  type MessageShape,
  type Registry,
} from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Immutable, SpecCodec } from "../resource/index.ts";
import { checkMessage } from "./message-check.ts";
import { toMessage, toPlain, type PlainRecord } from "./plain-message.ts";

/** A protobuf-es message as plain data: the same fields, without the name of its type. */
export type PlainMessage<T> = T extends Uint8Array | number
  ? // Enums are numbers with a brand, which looks like an object.
    T
  : T extends Message
    ? { [Key in Exclude<keyof T, "$typeName" | "$unknown">]: PlainMessage<T[Key]> }
    : T extends object
      ? { [Key in keyof T]: PlainMessage<T[Key]> }
      : T;

/** What specs of a message's schema are, once checked. */
export type MessageSpec<Desc extends DescMessage> = PlainMessage<MessageShape<Desc>>;

/** Schema and codec in one: the `spec` of a `defineResource`. */
export interface ProtobufSpec<Spec, Input> extends StandardSchemaV1<Input, Spec>, Required<SpecCodec<Spec>> {}

/** Options of {@link protobufSpec}. */
export interface ProtobufSpecOptions {
  /** The types that a `google.protobuf.Any` inside may have; YAML and JSON need them. */
  readonly registry?: Registry | undefined;
  /** Shows specs to people in another form than protobuf's JSON. */
  readonly toReadable?: ((spec: PlainRecord) => unknown) | undefined;
  /** Reads what people write in another form than protobuf's JSON. */
  readonly fromReadable?: ((value: unknown) => unknown) | undefined;
}

/**
 * Makes a protobuf-es message the spec of a type of resources. Specs are plain data with the message's fields, checked
 * and completed by its descriptor; peers see the message's own bytes, people protobuf's JSON (and YAML of the same
 * shape), in which enums are numbers and unset fields are there with their defaults. Fields that this side does not know
 * survive a change.
 *
 * ```ts
 * const Service = defineResource({ type: "Services.example.dev", spec: protobufSpec(ServiceSpecSchema) });
 * ```
 */
export function protobufSpec<Desc extends DescMessage>(
  desc: Desc,
  options: ProtobufSpecOptions = {},
): ProtobufSpec<MessageSpec<Desc>, MessageInitShape<Desc>> {
  const spec: ProtobufSpec<unknown, unknown> = new MessageSpecCodec(desc, options);
  return spec as never;
}

class MessageSpecCodec implements ProtobufSpec<unknown, unknown> {
  readonly "~standard": StandardSchemaV1.Props;
  readonly #desc: DescMessage;
  readonly #options: ProtobufSpecOptions;

  constructor(desc: DescMessage, options: ProtobufSpecOptions) {
    this.#desc = desc;
    this.#options = options;
    this["~standard"] = { version: 1, vendor: "homeostat", validate: (value) => this.#validate(value) };
  }

  encode(spec: Immutable<unknown>): Uint8Array {
    return toBinary(this.#desc, toMessage(this.#desc, spec as PlainRecord));
  }

  decode(bytes: Uint8Array): unknown {
    return toPlain(this.#desc, fromBinary(this.#desc, bytes));
  }

  toReadable(spec: Immutable<unknown>): unknown {
    const { registry, toReadable } = this.#options;
    if (toReadable !== undefined) return toReadable(spec as PlainRecord);
    const message = toMessage(this.#desc, spec as PlainRecord);
    return toJson(this.#desc, message, { alwaysEmitImplicit: true, enumAsInteger: true, registry });
  }

  fromReadable(value: unknown): unknown {
    const { registry, fromReadable } = this.#options;
    if (fromReadable !== undefined) return fromReadable(value);
    return toPlain(this.#desc, fromJson(this.#desc, jsonOf(value), { registry }));
  }

  /** What is right becomes what a peer would read: numbers of 64 bits as `bigint`, defaults filled in. */
  #validate(value: unknown): StandardSchemaV1.Result<unknown> {
    const issues = checkMessage(this.#desc, value);
    return issues.length > 0 ? { issues } : { value: this.decode(this.encode(value as Immutable<unknown>)) };
  }
}

/** YAML has large whole numbers and bytes, which protobuf's JSON has as texts. */
function jsonOf(value: unknown): JsonValue {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value as JsonValue;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(jsonOf);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part)]));
}
