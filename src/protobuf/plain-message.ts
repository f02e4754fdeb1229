import { create, type DescField, type DescMessage, type Message, type UnknownField } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { defineOwn } from "../internal/define-own.ts";

/** An object whose parts have no type yet. */
export type PlainRecord = Readonly<Record<string, unknown>>;

/** The type of the messages in a field, where they stand there as messages rather than as scalars or JSON. */
export function messageTypeOf(field: DescField): DescMessage | undefined {
  return isStruct(field) || isUnwrapped(field) ? undefined : field.message;
}

/** A `google.protobuf.Struct`, which the library shows as the JSON object that it stands for. */
export function isStruct(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** A wrapper such as `google.protobuf.Int32Value`, which the library shows as what is inside. */
export function isUnwrapped(field: DescField): boolean {
  return field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
}

/**
 * A message as plain data: without its type's name, absent fields left out. Fields that the schema does not know stay in
 * `$unknown`, so that they are still there when the data becomes a message again.
 */
export function toPlain(desc: DescMessage, message: Message): Record<string, unknown> {
  const fields = message as unknown as PlainRecord;
  const plain: Record<string, unknown> = {};
  for (const member of desc.members) {
    // A default that is not set is found in the prototype.
    const value = Object.hasOwn(fields, member.localName) ? fields[member.localName] : undefined;
    if (value === undefined) continue;
    if (member.kind === "oneof") {
      const chosen = value as { readonly case?: string | undefined; readonly value?: unknown };
      const field = member.fields.find(({ localName }) => localName === chosen.case);
      if (field !== undefined)
        plain[member.localName] = { case: chosen.case, value: toPlainValue(field, chosen.value) };
      else plain[member.localName] = {};
    } else plain[member.localName] = mapParts(member, value, (part) => toPlainValue(member, part));
  }
  if (message.$unknown !== undefined && message.$unknown.length > 0) {
    plain["$unknown"] = message.$unknown.map(({ no, wireType, data }) => ({ no, wireType, data }));
  }
  return plain;
}

function toPlainValue(field: DescField, value: unknown): unknown {
  const type = messageTypeOf(field);
  return type === undefined ? value : toPlain(type, value as Message);
}

/** The message that plain data stands for. The data must fit the schema. */
export function toMessage(desc: DescMessage, plain: PlainRecord): Message {
  const init: Record<string, unknown> = {};
  for (const member of desc.members) {
    const value = plain[member.localName];
    if (value === undefined || value === null) continue;
    if (member.kind === "oneof") {
      const chosen = value as { readonly case?: string | undefined; readonly value?: unknown };
      const field = member.fields.find(({ localName }) => localName === chosen.case);
      if (field !== undefined)
        init[member.localName] = { case: chosen.case, value: toMessageValue(field, chosen.value) };
    } else init[member.localName] = mapParts(member, value, (part) => toMessageValue(member, part));
  }
  const message = create(desc, init);
  const unknown = plain["$unknown"];
  if (Array.isArray(unknown)) message.$unknown = unknown as UnknownField[];
  return message;
}

function toMessageValue(field: DescField, value: unknown): unknown {
  const type = messageTypeOf(field);
  return type === undefined ? value : toMessage(type, value as PlainRecord);
}

/** Applies `change` to the items of a list, the values of a map, or the value itself. */
function mapParts(field: DescField, value: unknown, change: (part: unknown) => unknown): unknown {
  if (field.fieldKind === "list") return (value as readonly unknown[]).map(change);
  if (field.fieldKind !== "map") return change(value);
  const changed: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value as PlainRecord)) defineOwn(changed, key, change(part));
  return changed;
}
