import { fromJson, ScalarType, type DescField, type DescMessage, type JsonValue } from "@bufbuild/protobuf";
import { reflect, reflectList, reflectMap, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { SpecIssue } from "../resource/index.ts";
import { isStruct, isUnwrapped, messageTypeOf, type PlainRecord } from "./plain-message.ts";

/** Enough to correct a mistake; a hostile spec cannot make a longer report. */
const MAX_ISSUES = 50;
/** As deep as the library nests messages. */
const MAX_DEPTH = 100;

/** What keeps `value` from being a message of this type, with the path of each part. Empty when it is one. */
export function checkMessage(desc: DescMessage, value: unknown): readonly SpecIssue[] {
  const check = new MessageCheck();
  check.message(desc, value);
  return check.issues;
}

class MessageCheck {
  readonly issues: SpecIssue[] = [];
  readonly #path: (string | number)[] = [];

  message(desc: DescMessage, value: unknown): void {
    if (!isRecord(value)) return this.#add(`must be an object with the fields of ${desc.typeName}`);
    if (this.#path.length > MAX_DEPTH) return this.#add(`is nested deeper than ${MAX_DEPTH} levels, or is a cycle`);
    const { $typeName: name = desc.typeName } = value;
    if (name !== desc.typeName) return this.#add(`must be a ${desc.typeName}, got a ${String(name)}`);
    const known = new Set(desc.members.map(({ localName }) => localName));
    for (const key of Object.keys(value)) {
      if (!known.has(key) && key !== "$typeName" && key !== "$unknown")
        this.#within(key, () => this.#add("is not a known field"));
    }
    const scratch = reflect(desc);
    for (const member of desc.members) {
      const part = Object.hasOwn(value, member.localName) ? value[member.localName] : undefined;
      if (part === undefined || part === null) continue;
      this.#within(member.localName, () => {
        if (member.kind === "field") this.#field(scratch, member, part);
        else this.#oneof(scratch, member.fields, part);
      });
    }
    if (value["$unknown"] !== undefined) this.#within("$unknown", () => this.#unknown(value["$unknown"]));
  }

  #oneof(scratch: ReflectMessage, fields: readonly DescField[], value: unknown): void {
    if (!isRecord(value)) return this.#add("must be an object with case and value");
    if (value["case"] === undefined) return;
    const field = fields.find(({ localName }) => localName === value["case"]);
    if (field === undefined) {
      const cases = fields.map(({ localName }) => localName).join(", ");
      return this.#within("case", () => this.#add(`must be one of ${cases}`));
    }
    this.#within("value", () => this.#field(scratch, field, value["value"]));
  }

  #field(scratch: ReflectMessage, field: DescField, value: unknown): void {
    switch (field.fieldKind) {
      case "list": {
        if (!Array.isArray(value)) return this.#add("must be a list");
        const items = reflectList(field);
        value.forEach((item, i) => {
          this.#within(i, () => this.#part(field, item, () => items.add(item)));
        });
        return;
      }
      case "map": {
        if (!isRecord(value)) return this.#add("must be an object");
        const entries = reflectMap(field);
        for (const [key, part] of Object.entries(value)) {
          this.#within(key, () => this.#part(field, part, () => entries.set(keyOf(field.mapKey, key), part)));
        }
        return;
      }
      case "message":
      case "scalar":
      case "enum":
        return this.#part(field, value, () => scratch.set(field, value));
    }
  }

  /** One value: of a singular field, an item of a list, a value of a map. `set` complains of a wrong scalar. */
  #part(field: DescField, value: unknown, set: () => unknown): void {
    const type = messageTypeOf(field);
    if (type !== undefined) return this.message(type, value);
    if (isStruct(field)) return this.#attempt(() => fromJson(StructSchema, value as JsonValue));
    const inner = isUnwrapped(field) ? field.message?.fields[0] : undefined;
    if (inner !== undefined) return this.#scalar(value, () => reflect(inner.parent).set(inner, value));
    this.#scalar(value, set);
  }

  #scalar(value: unknown, set: () => unknown): void {
    if (typeof value === "string" && !value.isWellFormed()) return this.#add("has half a surrogate pair");
    this.#attempt(set);
  }

  #unknown(value: unknown): void {
    const isField = (part: unknown): boolean =>
      isRecord(part) &&
      Number.isInteger(part["no"]) &&
      Number.isInteger(part["wireType"]) &&
      part["data"] instanceof Uint8Array;
    if (!Array.isArray(value) || !value.every(isField)) this.#add("must be a list of unknown fields");
  }

  #attempt(set: () => unknown): void {
    try {
      set();
    } catch (error) {
      // The place of an item is in the path already.
      this.#add(error instanceof Error ? error.message.replace(/^list item #\d+: /, "") : String(error));
    }
  }

  #within(step: string | number, check: () => void): void {
    // The rest of a report that is full is not worth the time.
    if (this.issues.length === MAX_ISSUES) return;
    this.#path.push(step);
    check();
    this.#path.pop();
  }

  #add(message: string): void {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ message, path: [...this.#path] });
  }
}

function isRecord(value: unknown): value is PlainRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** The key of a map from its text, which is the form that plain data has it in. */
function keyOf(type: ScalarType, text: string): unknown {
  if (type === ScalarType.STRING || LONG_KEYS.has(type)) return text;
  if (type === ScalarType.BOOL) return text === "true" ? true : text === "false" ? false : text;
  return /^-?[0-9]{1,10}$/.test(text) ? Number(text) : text;
}

/** The library takes these as text as well. */
const LONG_KEYS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);
