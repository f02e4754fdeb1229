import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GrpcError, Status, type CallInfo } from "../../rpc/index.ts";

/** A secret that lets its bearer call. */
export interface BearerToken {
  /** Printable ASCII without spaces, as it stands in the `authorization` header behind `Bearer `. */
  readonly token: string;
  /** What access rules and logs know the bearer by. Default: "". */
  readonly name?: string | undefined;
}

/** What a call's token says about its caller. */
export interface TokenIdentity {
  readonly token: string;
}

/**
 * The tokens of a server. How long a comparison takes says nothing about a token: what is compared is a keyed digest of
 * fixed length, and every token is compared.
 */
export class BearerTokens {
  readonly #key = randomBytes(32);
  readonly #known: readonly { readonly digest: Buffer; readonly identity: TokenIdentity }[];

  /** @throws {TypeError} for no token at all, and for one that no header can hold. */
  constructor(tokens: Iterable<BearerToken | string>) {
    this.#known = [...tokens].map((one) => {
      const { token, name = "" } = typeof one === "string" ? { token: one } : one;
      if (!/^[\x21-\x7e]+$/.test(token)) {
        throw new TypeError("a bearer token must be printable ASCII without spaces, and not empty");
      }
      return { digest: this.#digest(token), identity: { token: name } };
    });
    if (this.#known.length === 0) throw new TypeError("tokens must hold at least one token, or no client could call");
  }

  /** @throws {GrpcError} UNAUTHENTICATED when the call has no token, or one that is not known. */
  authenticate({ metadata }: CallInfo): TokenIdentity {
    const given = /^bearer +([\x21-\x7e]+)$/i.exec(metadata.get("authorization") ?? "")?.[1];
    if (given === undefined) {
      throw new GrpcError(Status.unauthenticated, 'a bearer token is needed: metadata "authorization: Bearer TOKEN"');
    }
    const digest = this.#digest(given);
    let found: TokenIdentity | undefined;
    for (const known of this.#known) if (timingSafeEqual(known.digest, digest)) found = known.identity;
    if (found === undefined) throw new GrpcError(Status.unauthenticated, "the bearer token is not valid");
    return found;
  }

  #digest(token: string): Buffer {
    return createHmac("sha256", this.#key).update(token).digest();
  }
}
