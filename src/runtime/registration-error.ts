/** Why a registration was refused: see the constants of the same name. */
export const RegistrationCode = {
  /** The controller is not made as one must be: no name, neither or both of `reconcile` and `run`, … */
  invalidController: "invalid_controller",
  nameTaken: "name_taken",
  /** An input kind of the other sort of controllers, or an empty id. */
  invalidInput: "invalid_input",
  duplicateInput: "duplicate_input",
  invalidOutput: "invalid_output",
  /** Another controller claims the type, or this one does already. */
  outputConflict: "output_conflict",
  duplicateOutput: "duplicate_output",
  invalidConcurrency: "invalid_concurrency",
  /** A kind could not be watched; see `cause`. */
  watchFailed: "watch_failed",
  /** No controller of this name is registered. */
  unknownController: "unknown_controller",
  /** The controller was unregistered before it could start. */
  unregistered: "unregistered",
  /** The runtime has stopped. */
  stopped: "stopped",
} as const;
export type RegistrationCode = (typeof RegistrationCode)[keyof typeof RegistrationCode];

/** A controller, or a change of its inputs, was refused. Nothing of it remains: a corrected one can be registered. */
export class RegistrationError extends Error {
  override readonly name: string = "RegistrationError";
  readonly code: RegistrationCode;
  /** Name of the controller. */
  readonly controller: string;

  constructor(code: RegistrationCode, controller: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.controller = controller;
  }
}
