import { WireReader } from "../../wire/index.ts";

const DESTROY_READY_TAG = 0x08;

/** A message without fields: a `DestroyResponse`, a `TeardownAndDestroyResponse`, the first `WatchResponse`. */
export const EMPTY_MESSAGE: Uint8Array = new Uint8Array(0);

const READY = Uint8Array.of(DESTROY_READY_TAG, 1);

/** @param ready - No finalizers are left. */
export function encodeTeardownResponse(ready: boolean): Uint8Array {
  return ready ? READY : EMPTY_MESSAGE;
}

/** True when no finalizers are left. @throws {WireError} */
export function decodeTeardownResponse(bytes: Uint8Array): boolean {
  const reader = new WireReader(bytes);
  let ready = false;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === DESTROY_READY_TAG) ready = reader.bool();
    else reader.skip(tag);
  }
  return ready;
}

/** Checks that bytes are some message, of which nothing is wanted. @throws {WireError} */
export function checkMessage(bytes: Uint8Array): void {
  const reader = new WireReader(bytes);
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) reader.skip(tag);
}
