import type { Pointer } from "../resource/index.ts";

/** What was not declared: see the constants of the same name. */
export const UndeclaredCode = {
  /** Read of something that is neither input nor output. */
  read: "undeclared_read",
  /** Write to a type that is no output. */
  write: "undeclared_write",
  /** Finalizer of something that is no strong, primary or mapped input. */
  finalizer: "undeclared_finalizer",
} as const;
export type UndeclaredCode = (typeof UndeclaredCode)[keyof typeof UndeclaredCode];

/**
 * A controller reached for something that it did not declare: a programming error, which no retry mends. It is neither
 * a "not found" nor a conflict.
 */
export class UndeclaredError extends Error {
  override readonly name: string = "UndeclaredError";
  readonly code: UndeclaredCode;
  readonly controller: string;
  /** What was reached for; the id is absent for a list. */
  readonly pointer: Omit<Pointer, "id"> & { readonly id?: string | undefined };

  constructor(code: UndeclaredCode, message: string, controller: string, pointer: UndeclaredError["pointer"]) {
    super(message);
    this.code = code;
    this.controller = controller;
    this.pointer = pointer;
  }
}
