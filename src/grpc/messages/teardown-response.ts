import { WireReader } from "../../wire/index.ts";

const DESTROY_READY_TAG = 0x08;
/** Of ours: see `compared_life` in state.proto. */
const COMPARED_LIFE_TAG = (1000 << 3) | 0;

/** A message without fields: a `DestroyResponse`, a `TeardownAndDestroyResponse`, the first `WatchResponse`. */
export const EMPTY_MESSAGE: Uint8Array = new Uint8Array(0);

const READY = [DESTROY_READY_TAG, 1];
const COMPARED_LIFE = [(COMPARED_LIFE_TAG & 0x7f) | 0x80, COMPARED_LIFE_TAG >>> 7, 1];

/** What the answer to a Teardown, a Destroy or a TeardownAndDestroy says; only the first knows `destroyReady`. */
export interface TeardownResponse {
  /** No finalizers are left. */
  readonly destroyReady: boolean;
  /** The server has compared the life that the request names. */
  readonly comparedLife: boolean;
}

export function encodeTeardownResponse({ destroyReady, comparedLife }: TeardownResponse): Uint8Array {
  if (!destroyReady && !comparedLife) return EMPTY_MESSAGE;
  return Uint8Array.from([...(destroyReady ? READY : []), ...(comparedLife ? COMPARED_LIFE : [])]);
}

/** @throws {WireError} */
export function decodeTeardownResponse(bytes: Uint8Array): TeardownResponse {
  const reader = new WireReader(bytes);
  let destroyReady = false;
  let comparedLife = false;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === DESTROY_READY_TAG) destroyReady = reader.bool();
    else if (tag === COMPARED_LIFE_TAG) comparedLife = reader.bool();
    else reader.skip(tag);
  }
  return { destroyReady, comparedLife };
}
