import { lifeOf, type Pointer, type Resource } from "../../resource/index.ts";
import { asCreated, asUpdated, type DestroyOptions } from "../../state/index.ts";
import { decodePointerRequest } from "../messages/pointer-request.ts";
import { encodeTeardownResponse } from "../messages/teardown-response.ts";
import { decodeCreateRequest, decodeUpdateRequest } from "../messages/write-request.ts";
import { Rpc } from "../rpc.ts";
import type { ServerCall } from "../../rpc/index.ts";
import { unaryMethod, type Method } from "./method.ts";
import type { StateService } from "./state-service.ts";

/** The methods of one answer. */
export function unaryMethods(service: StateService): readonly Method[] {
  const { state, derived, resources, decoder, admit, logger } = service;

  /** Encoded only when there is room: the client may not read, and the resource is in the State anyway. */
  const respond = async (call: ServerCall, resource: Resource): Promise<Uint8Array> => {
    if (!call.hasRoom) await call.drained();
    return resources.encodeField(resource);
  };

  const get = async (call: ServerCall): Promise<Uint8Array> => {
    const { pointer } = decodePointerRequest(call.message);
    await admit(call, "get", pointer);
    return respond(call, await state.get(pointer, { signal: call.signal }));
  };

  const create = async (call: ServerCall): Promise<Uint8Array> => {
    const { resource, owner } = decodeCreateRequest(decoder, call.message);
    // What the rule is told costs something: without one it is not made.
    if (service.hasRule) {
      await admit(call, "create", resource.metadata, { owner, resource: asCreated(resource, owner, service.now()) });
    }
    return respond(call, await state.create(resource, { owner, signal: call.signal }));
  };

  const update = async (call: ServerCall): Promise<Uint8Array> => {
    const { resource, owner, expectedPhase } = decodeUpdateRequest(decoder, call.message);
    if (service.hasRule) {
      const stored = await derived.getOrNull(resource.metadata, { signal: call.signal });
      const updated = asUpdated(resource, stored, service.now());
      await admit(call, "update", resource.metadata, { owner, resource: updated, stored });
    }
    return respond(call, await state.update(resource, { owner, expectedPhase, signal: call.signal }));
  };

  return [
    unaryMethod(Rpc.get, logger, get),
    unaryMethod(Rpc.create, logger, create),
    unaryMethod(Rpc.update, logger, update),
    ...endingMethods(service),
  ];
}

/** The methods that end a resource, or begin to. All three ask the rule for the right to destroy. */
function endingMethods(service: StateService): readonly Method[] {
  const { state, derived, admit, logger } = service;

  /** @param end - Resolves to true when the response has to say that the resource may be destroyed. */
  const ending =
    (end: (pointer: Pointer, options: DestroyOptions) => Promise<boolean | void>) =>
    async (call: ServerCall): Promise<Uint8Array> => {
      const { pointer, owner } = decodePointerRequest(call.message);
      await admit(call, "destroy", pointer, { owner });
      const destroyReady = (await end(pointer, { owner, signal: call.signal })) === true;
      return encodeTeardownResponse({ destroyReady, comparedLife: lifeOf(pointer) !== undefined });
    };

  const destroy = ending((pointer, options) => state.destroy(pointer, options));
  const teardown = ending((pointer, options) => derived.teardown(pointer, options));
  const teardownAndDestroy = ending(async (pointer, options) => {
    await derived.teardownAndDestroy(pointer, options);
    // Who let go of it last is answered first: a client that stops all its work when the wait ends, as Go's suite does,
    // would cancel a call that was done.
    await service.nextTurn();
  });

  return [
    unaryMethod(Rpc.destroy, logger, destroy),
    unaryMethod(Rpc.teardown, logger, teardown),
    // It waits for somebody else, so a server that stops does not wait for it.
    unaryMethod(Rpc.teardownAndDestroy, logger, teardownAndDestroy, "cancel"),
  ];
}
