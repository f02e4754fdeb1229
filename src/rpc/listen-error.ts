/** Why a server does not listen: other machines reach the address and there is no TLS, or something is there already. */
export type ListenRefusal = "public" | "taken";

/** An address that a server refuses to listen at. What the system refuses is the system's own error. */
export class ListenError extends Error {
  override readonly name: string = "ListenError";
  readonly reason: ListenRefusal;

  constructor(reason: ListenRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}
