import { StateError } from "../resource/index.ts";

/** A place in a YAML text. Lines and columns count from 1. */
export interface Position {
  /** Name of the file, where one was given. */
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** Something is wrong with a YAML text. The message starts with the place and the field. */
export class YamlError extends StateError implements Position {
  override readonly name: string = "YamlError";
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
  /** Path of the field concerned, such as `spec.command[0]`; undefined when the text as such is wrong. */
  readonly field: string | undefined;
  /** The message without place and field. */
  readonly reason: string;

  constructor(reason: string, position: Position, field?: string, options?: ErrorOptions) {
    super("invalid", `${formatPosition(position)}: ${field === undefined ? "" : `${field}: `}${reason}`, options);
    this.file = position.file;
    this.line = position.line;
    this.column = position.column;
    this.field = field;
    this.reason = reason;
  }
}

/** `file:line:column`, as editors and terminals understand it. */
export function formatPosition({ file, line, column }: Position): string {
  return file === undefined ? `line ${line}, column ${column}` : `${file}:${line}:${column}`;
}
